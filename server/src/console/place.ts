import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Where the sources of the console are, and where its builds are kept. */
export type Place = {
  /** The checkout: the folder that holds `console/` and `client/`. */
  root: string
  /** Holds one folder for each build, named by the hash of what it was made of. */
  builds: string
}

/** The checkout that this service runs from. */
export function ownPlace(): Place {
  const root = fileURLToPath(new URL('../../../', import.meta.url))
  return { root, builds: join(root, 'console', 'dist') }
}

/** A path as a message names it: without the place of the checkout, which is of no interest to readers of the console's page. */
export function shownPath({ root }: Place, path: string): string {
  return path.startsWith(root) ? path.slice(root.length).replaceAll('\\', '/').replace(/^\//, '') : path
}
