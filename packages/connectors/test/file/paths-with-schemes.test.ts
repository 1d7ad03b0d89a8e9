import { fileSink, fileSource, jsonLines, textLines } from '@weir/connectors/file';
import { expect, test } from 'vitest';

const OPTIONS: Readonly<Record<string, (given: string) => unknown>> = {
  'the path of a source': (given) => fileSource({ path: given, format: textLines() }),
  'where a source skips to': (given) => fileSource({ path: 'in', format: jsonLines(), onMalformed: { skipTo: given } }),
  'the dir of a sink': (given) => fileSink({ dir: given, format: textLines() }),
};

test.each(Object.entries(OPTIONS))('%s is refused with a scheme that nothing serves', (_what, make) => {
  for (const given of ['s3://bucket/a', 'hdfs:///a', 'file://host/a', '(none)'])
    expect(() => make(given)).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining(given) }),
    );
});
