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
}
