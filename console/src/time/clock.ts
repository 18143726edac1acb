/** The moment by the service's clock: the clock of a person's machine may be minutes off, and a countdown must not. */
let aheadMs = 0

/** Takes the header `Date` of an answer. It has whole seconds, so smaller differences are left alone. */
export function noteServerTime(date: string | null): void {
  const at = Date.parse(date ?? '')
  if (Number.isNaN(at)) return
  const difference = at + 500 - Date.now()
  if (Math.abs(difference - aheadMs) > 2_000) aheadMs = Math.abs(difference) > 2_000 ? difference : 0
}

/** Milliseconds since 1970, by the service's clock. */
export const now = (): number => Date.now() + aheadMs
