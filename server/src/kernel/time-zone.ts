/** By their names in lower case, so there are at most as many entries as zones, regardless of spellings. */
const knownZones = new Map<string, string>()

/**
 * The platform's canonical spelling of a time zone (IANA name); undefined if there is no such zone. Offsets such as `+01:00`,
 * which the platform also accepts, are not names.
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
