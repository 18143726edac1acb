import type { Words } from '../words.ts'

export const start: Words['start'] = {
  place: 'Einrichten',
  title: (organization) => `${organization} einrichten`,
  question: 'Worauf sollen Menschen Zugriff bekommen?',
  real: 'Damit Zugriff echt wird, verbinden Sie AWS, PostgreSQL oder ein anderes System über einen Webhook. Das geht zurzeit mit der API: Die Anleitungen „provisioner-…“ in docs/guides zeigen es Schritt für Schritt.',
  goesLive: 'Die erste Verbindung, die echten Zugriff gibt, beendet die Probe, und zwar für immer.',
  reference: 'Referenz der API',
  steps: {
    resources: '1. Was beantragt werden kann',
    rules: '2. Wer es bekommt, und wie',
    people: '3. Wer dabei ist',
  },
}
