/** How what people read is written: what users wrote, spans of time and moments, in plain text. */

const longestLine = 200
/** Line ends, other controls, and the marks that turn the direction of what follows: a name could forge the rest with them. */
const forging = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu

/** What a user wrote, on one line of at most so many characters. */
export function line(text: string, longest = longestLine): string {
  const flat = text.replace(forging, ' ').trim()
  const characters = [...flat]
  return characters.length <= longest ? flat : `${characters.slice(0, longest).join('')}…`
}

/** The two largest units of a number of seconds that are not nothing: `1 h 30 min`. */
export function duration(seconds: number): string {
  const units: [string, number][] = [
    ['d', Math.floor(seconds / 86_400)],
    ['h', Math.floor(seconds / 3600) % 24],
    ['min', Math.floor(seconds / 60) % 60],
    ['s', seconds % 60],
  ]
  const some = units.filter(([, count]) => count > 0).slice(0, 2)
  return some.map(([unit, count]) => `${count} ${unit}`).join(' ')
}

/** `2026-03-01T08:05:09.120Z` → `2026-03-01 08:05 UTC`. */
export function moment(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`
}
