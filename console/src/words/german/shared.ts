import type { Refusal } from '@sallyport/client'
import type { Words } from '../words.ts'

export const actions: Words['actions'] = {
  cancel: 'Abbrechen',
  keep: 'Abbrechen',
  copied: 'Kopiert',
  copy: (what) => `${what} kopieren`,
}

export const lists: Words['lists'] = {
  loading: 'Wird geladen',
  unreachable: 'Der Dienst antwortet nicht. Besteht eine Netzverbindung?',
  tryNow: 'Jetzt versuchen',
  requestId: 'Für Ihren Administrator:',
  loadMore: 'Mehr laden',
  searching: 'Suche läuft …',
}

const byCode: Partial<Record<Refusal['code'], string>> = {
  rate_limited: 'Zu viele Versuche. Warten Sie einen Moment, dann versuchen Sie es erneut.',
  unavailable: 'Der Dienst ist ausgelastet. Versuchen Sie es gleich noch einmal.',
  internal:
    'Bei uns ist etwas schiefgegangen. Versuchen Sie es erneut. Geschieht es wieder, geben Sie Ihrem Administrator die Kennung unten.',
  not_found: 'Das gibt es nicht, oder Sie dürfen es nicht sehen.',
  sign_in_again: 'Dafür müssen Sie sich erneut anmelden.',
}

/** The messages of the service are in English. Where there is no German for one, it is quoted: it says more than a general sentence. */
export const refusal: Words['refusal'] = ({ code, message }) => byCode[code] ?? `Der Dienst lehnt ab: „${message}“`
