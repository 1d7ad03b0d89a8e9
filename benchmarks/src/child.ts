import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Runs one measurement in a process of its own, where memory and start-up are not those of others; gives what it sends. */
export async function inChild<T>(name: string, argument: unknown, nodeOptions: readonly string[] = []): Promise<T> {
  const script = fileURLToPath(new URL(`./child/${name}.js`, import.meta.url));
  const child = spawn(process.execPath, [...nodeOptions, script, JSON.stringify(argument)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const message = once(child, 'message').then(([result]) => result as T);
  const exit = once(child, 'exit').then(([code]) => {
    throw new Error(`the measurement ${name} ended with ${String(code)} before it gave a result`);
  });
  try {
    return await Promise.race([message, exit]);
  } finally {
    exit.catch(() => undefined);
    if (child.exitCode === null) child.kill();
  }
}

/** The other side: what the parent passed, and the way back. */
export function argument<T>(): T {
  return JSON.parse(process.argv[2] ?? 'null') as T;
}
export function answer(result: unknown): void {
  process.send?.(result);
}
