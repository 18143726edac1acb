import { buildConsole } from '../../src/console/build-console.ts'
import { ownPlace } from '../../src/console/place.ts'

/** Builds the console before the tests, so that no service of theirs does. Without it, the tests that need it fail by themselves. */
export async function prepareConsole(signal: AbortSignal): Promise<void> {
  try {
    await buildConsole(ownPlace(), signal, () => console.log('building the console (once for this version)…'))
  } catch (error) {
    if (!signal.aborted) console.log(`✖ there is no console: ${error instanceof Error ? error.message : error}`)
  }
}
