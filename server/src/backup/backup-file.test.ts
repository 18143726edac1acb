import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { type BackupPart, createBackupFile, readBackupFile } from './backup-file.ts'

const folder = await mkdtemp(join(tmpdir(), 'sallyport-backup-file-'))
after(() => rm(folder, { recursive: true }))
let files = 0
const newFile = () => join(folder, `${++files}.backup`)

const rows = [`{"n": 9007199254740993}`, `{"t": "☃ ${'ü'.repeat(70_000)}"}`, '{}']

async function write(file: string) {
  const writer = await createBackupFile(file)
  await writer.header({
    migrations: [{ name: '0001_a', checksum: 'c' }],
    postgresql: '18.4',
    made_at: '2026-01-01T00:00:00+00:00',
  })
  await writer.subscriber({ subscriber: 's', undelivered_from: '9007199254740993' })
  await writer.rows('tenant', null, ['{"id": 1}'])
  await writer.rows('event', 'x', rows)
  await writer.finish()
}

async function readAll(file: string) {
  const parts: BackupPart[] = []
  for await (const part of readBackupFile(file)) parts.push(part)
  return parts
}

const whole = newFile()
await write(whole)
const bytes = await readFile(whole)
const text = gunzipSync(bytes).toString()

test('a backup is read exactly as it was written', async () => {
  const parts = await readAll(whole)
  assert.deepEqual(
    parts.map(({ kind }) => kind),
    ['header', 'subscriber', 'rows', 'rows', 'end'],
  )
  assert.deepEqual(parts[3], { kind: 'rows', table: 'event', tenant_id: 'x', rows: 3, lines: rows })
  const end = parts[4]
  assert.ok(end?.kind === 'end')
  assert.deepEqual([end.rows, end.tenants, end.tables], [4, 1, { tenant: 1, event: 3 }])
})

test('only the owner can read the file, and no partial file is left', async () => {
  assert.equal((await stat(whole)).mode & 0o777, 0o600)
  assert.ok(!(await readdir(folder)).some((name) => name.includes('partial')))
})

test('an existing backup is never overwritten', async () => {
  await assert.rejects(createBackupFile(whole), /exists; name a new file, or remove that one first/)
  await assert.rejects(createBackupFile(join(folder, 'no', 'file')), /the folder `.*no` does not exist; make it first/)
  assert.deepEqual(await readFile(whole), bytes)
})

test('an abandoned backup leaves no file', async () => {
  const file = newFile()
  const before = await readdir(folder)
  const writer = await createBackupFile(file)
  await writer.rows('tenant', null, rows)
  await writer.abandon()
  assert.deepEqual(await readdir(folder), before)
})

const lines = text.trimEnd().split('\n')
const zipped = (altered: string[]) => gzipSync(`${altered.join('\n')}\n`)
const flipped = (at: number) => {
  const copy = Buffer.from(bytes)
  copy[at] = (copy[at] ?? 0) ^ 1
  return copy
}

const damages: [string, Buffer, RegExp][] = [
  ['is empty', Buffer.alloc(0), /it ends too early/],
  ['was cut in the middle', bytes.subarray(0, bytes.length >> 1), /it ends too early/],
  ['lacks its last byte', bytes.subarray(0, -1), /it ends too early/],
  ['lacks its end', zipped(lines.slice(0, -1)), /it ends too early/],
  ['is cut within a row', gzipSync(text.slice(0, text.indexOf('☃'))), /it ends too early/],
  ['has one bit flipped', flipped(bytes.length >> 1), /was altered|is damaged/],
  ['has another digit', zipped(lines.map((line) => line.replace('{"n": 9', '{"n": 8'))), /is not what was written/],
  ['lacks a row', zipped(lines.filter((line) => line !== '{}')), /is damaged/],
  [
    'lacks a batch',
    zipped(lines.filter((line) => !line.includes('"id": 1') && !line.includes('"tenant",'))),
    /is not what was written/,
  ],
  [
    'continues after its end',
    zipped([...lines, '{"kind":"rows","table":"t","tenant_id":null,"rows":0}']),
    /continues after its end/,
  ],
  [
    'is of another format',
    zipped(lines.map((line) => line.replace('"format":1', '"format":2'))),
    /format 2, but this version/,
  ],
  ['is no backup', gzipSync('{"kind":"something"}\n'), /is not a backup of Sallyport/],
  ['is no gzip file', Buffer.from('hello'), /is not a backup of Sallyport/],
]

suite('a file is refused that', () => {
  for (const [how, content, sentence] of damages) {
    test(how, async () => {
      const file = newFile()
      await writeFile(file, content)
      await assert.rejects(readAll(file), sentence)
    })
  }

  test('is not there', async () => {
    await assert.rejects(readAll(join(folder, 'nowhere')), /there is no file/)
  })
})
