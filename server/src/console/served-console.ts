import type { ConsoleState } from '../kernel/console-state.ts'
import { buildConsole, findConsole, NoBuild } from './build-console.ts'
import { ownPlace, type Place } from './place.ts'

/** The console of a running service. */
export type ServedConsole = {
  state(): ConsoleState
  /**
   * Builds it if there is no build of this version. Says what happens, and never throws: the API runs without a console. Returns false
   * when the service stops meanwhile.
   */
  build(): Promise<boolean>
  /** Ends a build that is going on, and removes what it made. */
  stop(): Promise<void>
}

/** Finds the build of this version; nothing is built yet. */
export async function openServedConsole(
  say: (line: string) => void,
  place: Place = ownPlace(),
): Promise<ServedConsole> {
  const stopping = new AbortController()
  let state: ConsoleState = 'building'
  let building: Promise<void> | undefined

  function giveUp(error: unknown): void {
    if (stopping.signal.aborted) return
    const { message, shown } = error instanceof NoBuild ? error : new NoBuild(String(error), 'the log says why')
    state = { missing: shown }
    say(`there is no console: ${message}`)
  }

  async function build(): Promise<void> {
    if (state !== 'building' || stopping.signal.aborted) return
    let began: number | undefined
    try {
      const folder = await buildConsole(place, stopping.signal, () => {
        began = performance.now()
        say('building the console (once for this version)…')
      })
      state = { folder }
      if (began !== undefined) say(`the console is built (${((performance.now() - began) / 1_000).toFixed(1)} s)`)
    } catch (error) {
      giveUp(error)
    }
  }

  try {
    const folder = await findConsole(place)
    if (folder !== undefined) state = { folder }
  } catch (error) {
    giveUp(error)
  }
  return {
    state: () => state,
    build() {
      building ??= build()
      return building.then(() => !stopping.signal.aborted)
    },
    async stop() {
      stopping.abort()
      await building
    },
  }
}
