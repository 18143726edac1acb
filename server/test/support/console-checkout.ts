import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after } from 'node:test'
import type { Place } from '../../src/console/place.ts'

/** What a build does instead of building; `folder` is where it builds to. */
export const builders = {
  quick: `write('index.html', 'a page')`,
  /** Leaves a part of a build, and never ends. */
  endless: `write('part', String(process.pid)); setInterval(() => undefined, 1_000)`,
  failing: `write('part', ''); console.error('src/main.tsx: a word is missing\\nand more'); process.exitCode = 1`,
}

/** A checkout with a small console, and whatever this code builds of it; removed when the file's tests are done. */
export function makeCheckout(builder: string = builders.quick): Place & { write(path: string, text: string): void } {
  const root = mkdtempSync(join(tmpdir(), 'checkout-'))
  after(() => rmSync(root, { recursive: true, force: true }))
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  const files = {
    'package-lock.json': '{"packages": {"node_modules/vite": {"version": "8.0.0"}}}',
    'client/package.json': '{}',
    'client/src/client.ts': 'export const client = 1',
    'console/package.json': '{"type": "module"}',
    'console/index.html': '<!doctype html>',
    'console/src/main.tsx': 'export const main = 1',
    'console/build.ts': [
      `import { writeFileSync } from 'node:fs'`,
      `const write = (name, text) => writeFileSync(process.argv[2] + '/' + name, text)`,
      builder,
    ].join('\n'),
  }
  for (const [path, text] of Object.entries(files)) write(path, text)
  return { root, builds: join(root, 'console', 'dist'), write }
}
