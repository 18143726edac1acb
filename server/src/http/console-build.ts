import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { extname, join, relative, sep } from 'node:path'

/** A file as it is sent: as it is, and compressed where the build has a copy. */
export type BuiltFile = { type: string; plain: Buffer; copies: Partial<Record<Coding, Buffer>> }
/** The codings of the copies, the best first, with the ends of their names. */
const codings = { br: '.br', gzip: '.gz' } as const
type Coding = keyof typeof codings

/** A build: its page with a strong `ETag`, and its other files by their paths. */
export type ConsoleBuild = { page: Buffer; etag: string; files: ReadonlyMap<string, BuiltFile> }

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.txt': 'text/plain; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
}

/**
 * Reads a build into memory, about a megabyte. So a reader who takes a file slowly holds no open file, what is sent never changes, and the service
 * serves the build on when its folder is removed. Links and hidden files are left out.
 */
export async function readConsoleBuild(folder: string): Promise<ConsoleBuild> {
  const page = await readFile(join(folder, 'index.html'))
  const etag = `"${createHash('sha256').update(page).digest('base64url')}"`
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)).split(sep).join('/'))
    .filter((path) => path !== 'index.html' && !/(?:^|\/)\./.test(path))
  const contents = new Map(
    await Promise.all(paths.map(async (path) => [path, await readFile(join(folder, path))] as const)),
  )
  const ends: readonly string[] = Object.values(codings)
  const files = paths.filter((path) => !ends.includes(extname(path)))
  return { page, etag, files: new Map(files.map((path) => [path, fileAt(path, contents)])) }
}

function fileAt(path: string, contents: ReadonlyMap<string, Buffer>): BuiltFile {
  const copies = Object.entries(codings).flatMap(([coding, end]) => {
    const copy = contents.get(path + end)
    return copy === undefined ? [] : [[coding, copy]]
  })
  const plain = contents.get(path) ?? Buffer.alloc(0)
  return { type: types[extname(path)] ?? 'application/octet-stream', plain, copies: Object.fromEntries(copies) }
}

/** The form of a file that a browser takes. `coding`: undefined for the file as it is. */
export function formFor({ plain, copies }: BuiltFile, accepts = ''): { coding: Coding | undefined; content: Buffer } {
  const taken = accepts.split(',').flatMap((part) => {
    const [name = '', ...more] = part.split(';').map((text) => text.trim().toLowerCase())
    return more.some((one) => /^q=0(?:\.0*)?$/.test(one)) ? [] : [name]
  })
  for (const coding of Object.keys(codings) as Coding[]) {
    const content = copies[coding]
    if (content !== undefined && taken.includes(coding)) return { coding, content }
  }
  return { coding: undefined, content: plain }
}
