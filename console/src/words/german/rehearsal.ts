import type { Words } from '../words.ts'

export const rehearsal: Words['rehearsal'] = {
  standIn: 'Als Kollegin oder Kollege der Probe handeln',
  standInText:
    'In diesem Fenster handeln Sie 15 Minuten lang als jemand, den es nur in der Probe gibt. Ihre eigenen Fenster bleiben Ihre.',
  standInHelp:
    'Das geht in einem Browser, in dem ein Eigentümer der Organisation angemeldet ist, und nur solange die Probe dauert.',
  goOn: 'Als diese Person handeln',
  standInOver: 'Die 15 Minuten sind um',
  standInOverText: 'Die Seite bleibt, wie sie ist. Weitere 15 Minuten?',
  bar: (name) => `Probe: Sie handeln als ${name}`,
  leave: 'Dieses Fenster schließen',
  continueAs: (name) => `In einem neuen Fenster als ${name} weitermachen`,
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
  done: 'Erledigt',
  todo: 'Offen',
}
