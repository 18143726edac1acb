/** How long a new window may take to load after the click. */
const maxAgeMs = 60_000

const place = (user_id: string) => `sallyport-acts:${user_id}`

/** Notes that a click in the console opens a window for this colleague. A foreign page cannot: it has a storage of its own. */
export function noteOpening(user_id: string): void {
  localStorage.setItem(place(user_id), String(Date.now()))
}

/**
 * Whether a click in the console opened this window for the colleague, also when it is loaded again. A link from elsewhere begins nothing by itself.
 */
export function isOpenedHere(user_id: string): boolean {
  const at = Number(localStorage.getItem(place(user_id)) ?? 0)
  localStorage.removeItem(place(user_id))
  const isOpened = Date.now() - at < maxAgeMs
  if (isOpened) sessionStorage.setItem(place(user_id), 'yes')
  // A link from elsewhere may lead into a tab that acted as the colleague before.
  return isOpened || (isLoadedAgain() && sessionStorage.getItem(place(user_id)) !== null)
}

function isLoadedAgain(): boolean {
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
  return navigation?.type === 'reload' || navigation?.type === 'back_forward'
}
