import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findStale, generateFiles } from './support/generated-files.ts'

/**
 * `npm run generate`: writes the generated files. With `--check` it writes nothing, lists the outdated files and exits with 1.
 * It exits with 1 in both modes if a migration that has landed was edited.
 */
const root = fileURLToPath(new URL('../../', import.meta.url))
const files = await generateFiles().catch((error: Error) => {
  console.error(error.message)
  process.exit(1)
})
const stale = findStale(root, files)

if (!process.argv.includes('--check')) {
  for (const path of stale) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), files[path] ?? '')
  }
  console.log(stale.length === 0 ? 'every generated file was fresh' : `wrote ${stale.join(', ')}`)
} else if (stale.length > 0) {
  console.error(`stale: ${stale.join(', ')}\ntype \`npm run generate\`, read what changed, and commit it`)
  process.exitCode = 1
}
