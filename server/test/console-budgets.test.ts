import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { buildConsole } from '../src/console/build-console.ts'
import { ownPlace } from '../src/console/place.ts'

type Entry = { file: string; css?: string[]; imports?: string[]; dynamicImports?: string[]; isEntry?: boolean }

/** What the first load of a page may weigh, and each part that is loaded later, in bytes after gzip. */
const budgets = { script: 220_000, style: 15_000, approval: 150_000, part: 40_000 }

suite('the weight of the console', async () => {
  const folder = await buildConsole(ownPlace(), new AbortController().signal, () => undefined)
  const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Record<string, Entry>
  const weigh = (file: string) => gzipSync(readFileSync(join(folder, file)), { level: 9 }).length
  const sum = (files: Iterable<string>) => [...files].reduce((total, file) => total + weigh(file), 0)
  const entryOf = (source: string): Entry => {
    const entry = manifest[source]
    assert.ok(entry, `the build has no ${source}`)
    return entry
  }

  /** The files of these parts and all that they import at once. */
  function filesOf(sources: readonly string[]): Set<string> {
    const files = new Set<string>()
    const waiting = [...sources]
    for (let source = waiting.pop(); source !== undefined; source = waiting.pop()) {
      const { file, imports = [] } = entryOf(source)
      if (files.has(file)) continue
      files.add(file)
      waiting.push(...imports)
    }
    return files
  }

  const first = 'index.html'
  const home = ['src/access/home.tsx', 'src/access/search.tsx']

  test(`the first load has at most ${budgets.script} bytes of script`, () => {
    const bytes = sum(filesOf([first, ...home]))
    assert.ok(bytes <= budgets.script, `${bytes}`)
  })

  test(`the page of a request has at most ${budgets.approval} bytes of script`, () => {
    for (const page of ['src/requests/request-page.tsx', 'src/inbox/inbox.tsx']) {
      const bytes = sum(filesOf([first, page]))
      assert.ok(bytes <= budgets.approval, `${page}: ${bytes}`)
    }
  })

  test(`the style has at most ${budgets.style} bytes`, () => {
    const styles = new Set(Object.values(manifest).flatMap(({ css = [] }) => css))
    const bytes = sum(styles)
    assert.ok(bytes > 0 && bytes <= budgets.style, `${bytes}`)
  })

  test(`each part that is loaded later has at most ${budgets.part} bytes`, () => {
    const later = new Set(Object.values(manifest).flatMap(({ dynamicImports = [] }) => dynamicImports))
    assert.ok(later.size >= 5, `${later.size} parts`)
    for (const source of later) {
      const bytes = weigh(entryOf(source).file)
      assert.ok(bytes <= budgets.part, `${source}: ${bytes}`)
    }
  })
})
