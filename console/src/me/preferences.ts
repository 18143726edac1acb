import type { Schemas } from '@sallyport/client'

export type Preferences = Schemas['Preferences']
type Effective = Schemas['EffectivePreferences']

/** The languages of the console's words. */
const languages = ['en', 'de']

/** The languages to choose from: those of the words, and the one that is set. */
export const offeredLanguages = (set: string | null): readonly string[] =>
  set === null || languages.includes(set) ? languages : [...languages, set]

/** A language in its own words, as in “Deutsch”. */
export const languageName = (tag: string): string =>
  new Intl.DisplayNames([tag], { type: 'language', fallback: 'code' }).of(tag) ?? tag

type Region = { name: string; zones: readonly { zone: string; city: string }[] }

/** Zones by region, cities in order. `''` is the region of zones that have none, such as UTC. The one that is set is always among them. */
export function zonesByRegion(known: readonly string[], set: string | null): readonly Region[] {
  const all = [...new Set([...known, 'UTC', ...(set === null ? [] : [set])])].sort()
  const regions = Map.groupBy(all, (zone) => (zone.includes('/') ? zone.slice(0, zone.indexOf('/')) : ''))
  return [...regions].map(([name, zones]) => ({
    name,
    zones: zones.map((zone) => ({
      zone,
      city: zone.slice(name === '' ? 0 : name.length + 1).replaceAll('_', ' '),
    })),
  }))
}

/** The preferences in this browser: who has chosen no time zone reads times in that of their device. */
export function preferencesHere(effective: Effective, zoneOfDevice: string): Effective {
  return effective.chosen.includes('timezone') ? effective : { ...effective, timezone: zoneOfDevice }
}

/** What would apply with this choice; undefined while the language would be the organization's, which is not known then. */
export function previewed(choice: Preferences, effective: Effective, zoneOfDevice: string): Effective | undefined {
  const locale = choice.locale ?? (effective.chosen.includes('locale') ? undefined : effective.locale)
  if (locale === undefined) return undefined
  return { ...effective, ...choice, locale, timezone: choice.timezone ?? zoneOfDevice }
}

/** The fields that differ, to send. */
export function changesIn(stored: Preferences, choice: Preferences): Partial<Preferences> {
  const fields = ['locale', 'timezone', 'date_format', 'time_format'] as const
  return Object.fromEntries(
    fields.filter((field) => stored[field] !== choice[field]).map((field) => [field, choice[field]]),
  )
}
