import { checkpointCoordinator } from '@weir/coordinator';
import { createEnvironment, isWeirError } from '@weir/core';
import { staticSplits, type Sink, type SinkGrade, type Source, type SourceGrade } from '@weir/core/contracts';
import path from 'node:path';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { mapCheckpoints } from '../examples/plugins/map-storage.js';
import { textOf } from './support/pages.js';

const page = textOf('docs/guarantees.md');
const claims = page.split('<!-- claims -->')[1]?.split('<!-- end -->')[0] ?? '';
const rows = [...claims.matchAll(/^\| `?([a-z-]+)`? +\| `([a-z-]+)` +\| ([a-z-]+) +\| ([a-z-]+) +\| ([a-z-]+) +\|$/gm)];

describe('what may be claimed', () => {
  test('is said for every mode and source', () => {
    expect(rows).toHaveLength(9);
  });

  test.each(rows.map(([, mode = '', grade = '', ...cells]) => [mode, grade, cells] as const))(
    'with checkpoints %s and a source that is %s',
    async (mode, grade, cells) => {
      const sinks: readonly SinkGrade[] = ['exactly-once', 'idempotent', 'at-least-once'];
      const strongest = sinks.map((sink) => strongestClaim(mode, grade as SourceGrade, sink));
      expect(await Promise.all(strongest)).toEqual(cells);
    },
  );
});

async function strongestClaim(mode: string, source: SourceGrade, sink: SinkGrade): Promise<string> {
  for (const guarantee of ['exactly-once', 'at-least-once', 'at-most-once'] as const) {
    const env = createEnvironment({ plugins: [checkpointCoordinator(), mapCheckpoints()] });
    if (mode !== 'off') env.enableCheckpointing('1 h', { mode: mode === 'exactly-once' ? mode : 'at-least-once' });
    // The compiler refuses claims that are too strong; here it is asked of the start.
    env
      .from(emptySource(source), { uid: 'in' })
      .to(sinkOf(sink), { uid: 'out', guarantee: guarantee as 'at-most-once' });
    try {
      await env.execute(`claims-${mode}`);
      return guarantee;
    } catch (error) {
      if (!isWeirError(error, 'GUARANTEE_IMPOSSIBLE')) throw error;
    }
  }
  return 'nothing';
}

function emptySource(grade: SourceGrade): Source<number> {
  return {
    grade,
    bounded: true,
    enumerator: () => staticSplits([]),
    open: () => Promise.reject(new Error('there is no split to open')),
  };
}

function sinkOf(grade: SinkGrade): Sink<number> {
  return { grade, open: () => ({ write: () => undefined, close: () => undefined }) };
}

describe('what is promised', () => {
  const promised = page.slice(page.indexOf('## In the state'), page.indexOf('## What is not promised'));
  const promises = promised.split(/^- /m).slice(1);

  test('has a test for each promise', () => {
    expect(promises.length).toBeGreaterThan(15);
    expect(promises.filter((promise) => proofsOf(promise).length === 0)).toEqual([]);
  });

  test.each(proofsOf(promised))('is proven by "%s" of %s', (title, file) => {
    expect(textsIn(path.posix.join('docs', file))).toContain(title);
  });
});

function proofsOf(text: string): [title: string, file: string][] {
  return [...text.matchAll(/^ +- \[(.+)\]\((\S+\.ts)\)$/gm)].map(([, title = '', file = '']) => [title, file]);
}

/** Texts of a file, as `test` gets them; a template with its placeholders. */
function textsIn(file: string): string[] {
  const source = ts.createSourceFile(file, textOf(file), ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node)) found.push(node.text);
    if (ts.isTemplateExpression(node)) found.push(node.getText().slice(1, -1));
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}
