import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'

/** A folder in one file: a line of JSON, `Entry[]`, then the bytes of the files in that order, compressed with zstd. */
type Entry = { path: string; size: number | null }

/** Most of PostgreSQL's content occurs several times, far apart. */
const params = {
  [constants.ZSTD_c_compressionLevel]: 22,
  [constants.ZSTD_c_enableLongDistanceMatching]: 1,
  [constants.ZSTD_c_windowLog]: 27,
}

export function packFolder(folder: string): Buffer {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true })
  const entries = found
    .filter((entry) => entry.isFile() || entry.isDirectory())
    .map((entry) => ({ path: join(entry.parentPath, entry.name), isFile: entry.isFile() }))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
    .map(({ path, isFile }) => ({
      path: path.slice(folder.length + 1).replaceAll(sep, '/'),
      bytes: isFile ? readFileSync(path) : undefined,
    }))
  const header: Entry[] = entries.map(({ path, bytes }) => ({ path, size: bytes?.length ?? null }))
  const contents = entries.flatMap(({ bytes }) => bytes ?? [])
  return zstdCompressSync(Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), ...contents]), { params })
}

/** Only the owner may read its files, as in a data folder. */
export function unpackFolder(packed: Buffer, folder: string): void {
  const all = zstdDecompressSync(packed)
  let at = all.indexOf('\n') + 1
  for (const { path, size } of JSON.parse(all.toString('utf8', 0, at)) as Entry[]) {
    const to = join(folder, path)
    mkdirSync(size === null ? to : dirname(to), { recursive: true, mode: 0o700 })
    if (size === null) continue
    writeFileSync(to, all.subarray(at, at + size), { mode: 0o600 })
    at += size
  }
}
