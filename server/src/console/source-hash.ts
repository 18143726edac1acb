import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** What a build depends on, below the checkout: the console, the client that it calls the API with, and the versions of libraries. */
const sources = ['console', 'client/src', 'client/package.json', 'package-lock.json', 'tsconfig.json']
/** Folders that are no source. Names that begin with a dot are none either: editors and systems leave such files. */
const notSources = new Set(['node_modules', 'dist'])

/**
 * The hash of everything that a build of the console depends on.
 * @throws Error ENOENT when the checkout has no console
 */
export async function hashSources(root: string): Promise<string> {
  await readFile(join(root, 'console', 'build.ts'))
  const paths = (await Promise.all(sources.map((path) => filesAt(root, path)))).flat().sort()
  const contents = await Promise.all(paths.map((path) => readFile(join(root, path))))
  const hash = createHash('sha256')
  for (const [index, bytes] of contents.entries()) hash.update(`${paths[index]}\0${bytes.length}\0`).update(bytes)
  return hash.digest('hex').slice(0, 16)
}

/** The files at a path: itself, or all below it. None where there is nothing: an image may leave `package-lock.json` out. */
async function filesAt(root: string, path: string): Promise<string[]> {
  try {
    const entries = await readdir(join(root, path), { withFileTypes: true })
    const found = entries
      .filter(({ name }) => !name.startsWith('.') && !notSources.has(name))
      .map((entry) => {
        const below = `${path}/${entry.name}`
        if (entry.isDirectory()) return filesAt(root, below)
        return entry.isFile() ? [below] : []
      })
    return (await Promise.all(found)).flat()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOTDIR') return [path]
    if (code === 'ENOENT') return []
    throw error
  }
}
