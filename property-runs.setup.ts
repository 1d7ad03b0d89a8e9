// Before the tests of a run with PROPERTY_RUNS: properties that do not say how often they are tried are tried that much more often, too.
import fc from 'fast-check';

fc.configureGlobal({ ...fc.readConfigureGlobal(), numRuns: 100 * Number(process.env['PROPERTY_RUNS']) });
