import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What runs. `commit`: 40 hexadecimal digits; undefined where nothing says it, as in a copy without its history. */
export type Version = { version: string; commit: string | undefined }

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** The version of package.json, and the commit: from the file COMMIT that a release holds, else from the checkout. */
export function readVersion(folder: string = root): Version {
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }
  return { version, commit: readCommit(folder) }
}

/** Such as `0.1.0 (1a2b3c4d5e6f)`. */
export function describeVersion({ version, commit }: Version): string {
  return commit === undefined ? version : `${version} (${commit.slice(0, 12)})`
}

function readCommit(folder: string): string | undefined {
  return [textIn(folder, 'COMMIT'), headOf(folder)].find(isCommit)
}

const isCommit = (text: string | undefined) => text !== undefined && /^[0-9a-f]{40}$/.test(text)

/** The commit that is checked out. Git itself may be missing, or refuse a folder of another user. */
function headOf(folder: string): string | undefined {
  // In a further worktree, `.git` is a file that names the folder.
  const link = /^gitdir: (.+)$/.exec(textIn(folder, '.git') ?? '')?.[1]
  const git = link === undefined ? join(folder, '.git') : resolve(folder, link)
  const shared = resolve(git, textIn(git, 'commondir') ?? '.')
  const head = textIn(git, 'HEAD')
  const name = head?.startsWith('ref: ') ? head.slice('ref: '.length) : undefined
  if (name === undefined) return head
  const packed = textIn(shared, 'packed-refs')?.split('\n')
  return textIn(shared, name) ?? packed?.find((line) => line.endsWith(` ${name}`))?.split(' ', 1)[0]
}

function textIn(folder: string, name: string): string | undefined {
  const path = join(folder, name)
  try {
    return existsSync(path) ? readFileSync(path, 'utf8').trim() : undefined
  } catch {
    // A folder of this name, or a file of another user: then nothing says it.
    return undefined
  }
}
