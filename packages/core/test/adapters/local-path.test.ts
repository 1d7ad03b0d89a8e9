import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { localPath } from '../../src/adapters/local-path.js';

describe('the path that a user gives', () => {
  test.each(['/a/b', 'a', './a:b', 'a:b', '../s3', 'C:/x', 'C:\\x', '2024-01-01T10:00', '', '/a//b', 'a/s3://b'])(
    'stays as it is: %s',
    (given) => {
      expect(localPath(given, 'dir')).toBe(given);
    },
  );

  test('may be a file URL', () => {
    expect(localPath(pathToFileURL('/a b/ü#?').href, 'dir')).toBe('/a b/ü#?');
    for (const given of ['file:///a', 'file:/a', 'file://localhost/a', 'FILE:///a'])
      expect(localPath(given, 'dir')).toBe('/a');
  });

  test.each(['hdfs', 's3', 's3a', 's3n', 'cos', 'cosn', 'gs', 'nfs', 'ceph', 'abfs', 'http', 'S3'])(
    'is refused with the scheme %s, which would become a folder of that name',
    (scheme) => {
      for (const given of [`${scheme}://bucket/a`, `${scheme}:///a`, `${scheme}:/a`])
        expect(() => localPath(given, 'checkpointsDir')).toThrow(
          expect.objectContaining({
            code: 'CONFIG_INVALID',
            message: expect.stringMatching(`checkpointsDir is "${given}", and nothing here serves '${scheme}:': give `),
          }),
        );
    },
  );

  test.each([
    ['(none)', 'leave it out'],
    ['file://host/x', "host 'host'"],
    ['file:x', 'write file:///'],
    ['file:///a%2Fb', 'write file:///'],
    ['file:///a?b', '%3F'],
    ['file:///a#b', '%23'],
  ])('is refused as %s, with what to do', (given, advice) => {
    expect(() => localPath(given, 'dir')).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining(advice) }),
    );
  });
});
