import { setLost } from './connection.ts'

const pauseMs = 2_000
/** A part that is still missing so soon after the page was loaded again will not come by another time. */
const againMs = 60_000
const place = 'sallyport-reloaded'

/**
 * Loads a part of the console that is a file of its own. Without the service it waits until the service is back. Where the service answers and
 * does not have the file, it has another version of the console: the page is loaded again, once.
 * @throws what the import throws where loading again did not help
 */
export async function loadPart<Part>(load: () => Promise<Part>): Promise<Part> {
  for (;;) {
    try {
      return await load()
    } catch (error) {
      if (await answers()) await loadPageAgain(error)
      setLost(true)
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }
}

async function answers(): Promise<boolean> {
  return fetch('/livez', { cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  )
}

async function loadPageAgain(error: unknown): Promise<void> {
  const last = Number(sessionStorage.getItem(place) ?? 0)
  if (Date.now() - last < againMs) throw error
  sessionStorage.setItem(place, String(Date.now()))
  location.reload()
  // The page ends here.
  await new Promise(() => undefined)
}
