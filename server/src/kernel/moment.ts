/** RFC 3339, with at most nine digits of a second. The offset is as far from UTC as PostgreSQL reads it. */
const form =
  /^(\d{4})-(\d\d)-(\d\d)t([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60)(\.\d{1,9})?(?:z|([+-])(0\d|1[0-5]):([0-5]\d))$/i

const minuteMs = 60_000
const dayMinutes = 24 * 60
const first = Date.parse('0001-01-01T00:00:00.000Z')
const last = Date.parse('9999-12-31T23:59:59.999Z')

/**
 * The moment of a date-time that a caller sent; undefined for a text that is none. It accepts nothing that PostgreSQL refuses, and no
 * moment that in UTC is outside the years 0001 to 9999, which the answers could not show. A leap second, as RFC 3339 allows it at
 * 23:59:60 UTC, is the first moment of the next day.
 */
export function readMoment(text: string): Date | undefined {
  const [, year, month, day, hour, minute, second, fraction = '', sign, hours = '0', minutes = '0'] =
    form.exec(text) ?? []
  if (year === undefined) return undefined
  const midnight = Date.parse(`${year}-${month}-${day}T00:00:00.000Z`)
  // `Date` takes February 30 for March 2.
  if (Number.isNaN(midnight) || new Date(midnight).getUTCDate() !== Number(day)) return undefined
  const offset = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes))
  const ofDay = Number(hour) * 60 + Number(minute) - offset
  if (second === '60' && (ofDay + dayMinutes + 1) % dayMinutes !== 0) return undefined
  const ms = midnight + ofDay * minuteMs + Number(second) * 1_000 + Number(fraction.slice(1, 4).padEnd(3, '0'))
  return ms < first || ms > last ? undefined : new Date(ms)
}
