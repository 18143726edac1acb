import { buildConsole } from '../console/build-console.ts'
import { ownPlace, shownPath } from '../console/place.ts'

/** `npm run console:build`: builds the console where the service looks for it, for an image or a read-only installation. */
const ending = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => ending.abort())
const place = ownPlace()
try {
  const folder = await buildConsole(place, ending.signal, () => console.log('building the console…'))
  console.log(`the console of this version is in \`${shownPath(place, folder)}\``)
} catch (error) {
  if (!ending.signal.aborted) console.error(`there is no console: ${error instanceof Error ? error.message : error}`)
  process.exitCode = 1
}
