import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify, stripVTControlCharacters } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

/** The files that compress well. Pictures and fonts are compressed already. */
const text = /\.(?:css|html|js|json|map|mjs|svg|txt|webmanifest|xml)$/
/** A smaller file fits into the packets that its headers need anyway. */
const minBytes = 1_024
/** A copy that saves less is not worth its place, nor the work of unpacking it. */
const maxRatio = 0.95

/**
 * Builds the console into a folder, and writes a copy for each of gzip and Brotli beside each text file that becomes smaller.
 * What the folder held before is removed.
 * @throws Error when the console cannot be built
 */
export async function buildConsole(folder: string): Promise<void> {
  // Vite takes it as it finds it, and with another value React would be built for its developers.
  process.env.NODE_ENV = 'production'
  // Here rather than at the top, so that a missing library is an error of this function.
  const [{ build }, { default: config }] = await Promise.all([import('vite'), import('./vite.config.ts')])
  await build({
    ...config,
    // The result depends on the files of this checkout alone: no `.env`, and no file is written beside the libraries.
    configFile: false,
    envDir: false,
    logLevel: 'silent',
    build: { ...config.build, outDir: resolve(folder) },
  })
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile() && text.test(entry.name))
  await Promise.all(files.map(({ parentPath, name }) => compress(join(parentPath, name))))
}

async function compress(file: string): Promise<void> {
  const plain = await readFile(file)
  if (plain.length < minBytes) return
  const params = {
    // The best quality takes a second more, for a twentieth of the size less.
    [constants.BROTLI_PARAM_QUALITY]: 9,
    [constants.BROTLI_PARAM_SIZE_HINT]: plain.length,
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
  }
  const copies = await Promise.all([
    promisify(gzip)(plain, { level: 9 }).then((bytes) => ({ end: '.gz', bytes })),
    promisify(brotliCompress)(plain, { params }).then((bytes) => ({ end: '.br', bytes })),
  ])
  const smaller = copies.filter(({ bytes }) => bytes.length < plain.length * maxRatio)
  await Promise.all(smaller.map(({ end, bytes }) => writeFile(`${file}${end}`, bytes)))
}

/** One line: what went wrong, and what to do where the cause is known. */
function explain(error: unknown): string {
  const { code, message }: NodeJS.ErrnoException = error instanceof Error ? error : new Error(String(error))
  const root = `${resolve(import.meta.dirname, '..')}/`
  // Vite's messages have colors, a picture of the place, and full paths.
  const lines = stripVTControlCharacters(message).replaceAll(root, '').split('\n')
  const line = lines.find((one) => one.trim() !== '')?.trim() ?? 'no reason was given'
  const isMissing = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND' || /native binding/i.test(message)
  if (!isMissing) return line
  // What follows is npm's advice for an error of its own.
  const [cause] = line.split('. ')
  return `a library is missing (${cause}): run \`npm ci\` with optional dependencies`
}

async function main([folder, ...more]: readonly string[]): Promise<void> {
  if (folder === undefined || more.length > 0) throw new Error('name one folder: `node console/build.ts FOLDER`')
  await buildConsole(folder)
}

if (import.meta.main) {
  // The service that started this program is gone, and nobody would use the build.
  process.once('disconnect', () => process.exit(1))
  if (process.connected === false) process.exit(1)
  // The listener alone would keep this program running.
  process.channel?.unref()
  try {
    await main(process.argv.slice(2))
  } catch (error) {
    console.error(explain(error))
    process.exitCode = 1
  }
}
