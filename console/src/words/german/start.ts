import type { SetUpWords } from '../set-up-words.ts'

export const start: SetUpWords['start'] = {
  title: (organization) => `${organization} einrichten`,
  question: 'Worauf sollen Menschen Zugriff bekommen?',
  real: 'PostgreSQL, und jedes andere System über einen Webhook, verbinden Sie zurzeit mit der API: Die Anleitungen „provisioner-…“ in docs/guides zeigen es Schritt für Schritt.',
  goesLive: 'Die erste Verbindung, die echten Zugriff gibt, beendet die Probe, und zwar für immer.',
  reference: 'Referenz der API',
  steps: {
    resources: '1. Was beantragt werden kann',
    rules: '2. Wer es bekommt, und wie',
    people: '3. Wer mitmacht',
  },
  rehearsal: {
    title: 'Erst einmal proben',
    text: 'Sehen Sie, wie es geht, bevor etwas echt ist: drei Konten, die es nirgends gibt, zwei Regeln, und Ada und Ben als Kollegen. Das dauert zwei Minuten.',
    begin: 'Probe beginnen',
    steps: {
      ask: 'Zugriff auf die Produktion beantragen',
      approve: 'Als Kollege genehmigen',
      refusal: 'Etwas versuchen, das nicht erlaubt ist',
      atOnce: 'Eine Regel sofort genehmigen lassen',
    },
    stepTexts: {
      ask: 'Ada oder Ben können genehmigen. Sie selbst nicht: Niemand entscheidet über den eigenen Antrag.',
      approve: 'In Ihrem Antrag öffnet ein Knopf ein Fenster, in dem Sie Ben sind.',
      refusal: 'Administratorrechte für 8 Stunden: Lesen Sie, warum nicht, und was erlaubt wäre.',
      atOnce: 'Lesen in der Sandbox braucht keinen Menschen. Eine Sekunde später haben Sie es.',
    },
    acts: { ask: 'Beantragen', approve: 'Antrag öffnen', refusal: 'Versuchen', atOnce: 'Ansehen' },
    allDone: 'Sie haben alles gesehen. Weiter geht es mit den Konten unten.',
    done: 'Erledigt',
    todo: 'Offen',
  },
}
