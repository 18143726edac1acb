import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { packFolder, unpackFolder } from './packed-folder.ts'

const folder = mkdtempSync(join(tmpdir(), 'packed-'))
after(() => rmSync(folder, { recursive: true }))

test('a folder is unpacked as it was packed: empty files and folders, names, every byte', () => {
  const [from, to] = [join(folder, 'from'), join(folder, 'to')]
  const files = {
    'a/b/c': Buffer.from([0, 10, 255, 10]),
    'a/empty': Buffer.alloc(0),
    'a line\nof two': Buffer.from('x'),
  }
  mkdirSync(join(from, 'nothing'), { recursive: true })
  mkdirSync(join(from, 'a/b'), { recursive: true })
  for (const [path, bytes] of Object.entries(files)) writeFileSync(join(from, path), bytes)
  unpackFolder(packFolder(from), to)
  assert.deepEqual(readdirSync(to, { recursive: true }).sort(), readdirSync(from, { recursive: true }).sort())
  for (const [path, bytes] of Object.entries(files)) assert.deepEqual(readFileSync(join(to, path)), bytes, path)
})
