import { ByteWriter } from '@weir/core/contracts';
import { serializerSuite } from '@weir/testkit';
import { describe, test } from 'vitest';
import { Temperature, temperatureSerializer } from '../../examples/plugins/temperature-serializer.js';

const version1 = new ByteWriter();
version1.f64(20);

describe('acme.temperature', () => {
  serializerSuite(test, {
    serializer: temperatureSerializer,
    values: [new Temperature(0), new Temperature(293.15), new Temperature(Infinity)],
    refused: [20, '20 °C', undefined, { kelvin: 20 }],
    older: [{ version: 1, bytes: version1.toBytes(), value: new Temperature(293.15) }],
  });
});
