/** By their names in lower case: no more of them than there are zones, however many spellings are tried. */
const knownZones = new Map<string, string>()

/**
 * The one spelling of a time zone (IANA name) that the platform goes by; undefined where there is no such zone. Offsets
 * such as `+01:00`, which the platform takes too, are no names.
 */
export function readZone(text: string): string | undefined {
  if (!/^[A-Za-z][\w+/-]*$/.test(text)) return undefined
  const key = text.toLowerCase()
  const zone = knownZones.get(key) ?? resolvedZone(text)
  if (zone !== undefined) knownZones.set(key, zone)
  return zone
}

function resolvedZone(text: string): string | undefined {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone
  } catch {
    return undefined
  }
}
