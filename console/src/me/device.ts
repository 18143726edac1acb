/** The time zone of the device, as the browser detects it. */
export const zoneOfDevice = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone
