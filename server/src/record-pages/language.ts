import type { Own } from './bodies.ts'
import { german } from './words-de.ts'
import { english, type Words } from './words-en.ts'

const languages: readonly Words[] = [english, german]

/** Names of languages in `Accept-Language`, of which only so many are read. */
const maxAccepted = 20

/**
 * The words for a person: in the language that they chose, else in the first of their browser's that there is, else in the tenant's, else in
 * English.
 */
export function wordsFor(acceptLanguage: string | undefined, own?: Pick<Own, 'preferences'>): Words {
  const { locale, chosen } = own?.preferences ?? { locale: 'en', chosen: [] as string[] }
  const ofBrowser = acceptedLanguages(acceptLanguage)
  const wanted = chosen.includes('locale') ? [locale, ...ofBrowser] : [...ofBrowser, locale]
  return wanted.flatMap((tag) => languages.find(({ language }) => language === baseOf(tag)) ?? []).at(0) ?? english
}

/** The tags of the header, those with the greatest weight first. */
function acceptedLanguages(header = ''): string[] {
  return header
    .split(',', maxAccepted)
    .map((entry) => {
      const [tag = '', ...parameters] = entry.split(';')
      const weight = parameters
        .map((text) => /^\s*q=([\d.]{1,5})\s*$/.exec(text)?.[1])
        .find((text) => text !== undefined)
      return { tag: tag.trim(), weight: Number(weight ?? 1) }
    })
    .filter(({ weight }) => weight > 0)
    .sort((one, other) => other.weight - one.weight)
    .map(({ tag }) => tag)
}

/** `de` of `de-AT`. */
function baseOf(tag: string): string | undefined {
  return tag.split('-')[0]?.toLowerCase()
}
