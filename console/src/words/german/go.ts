import type { Words } from '../words.ts'

export const go: Words['go'] = {
  title: 'Gehe zu',
  label: 'Eine Seite, Ihr Zugriff oder was Sie brauchen',
  results: 'Wohin es gehen kann',
  pages: 'Seiten',
  found: (count) => (count === 1 ? '1 Ergebnis' : `${count} Ergebnisse`),
  nothing: (text) => `Zu „${text}“ gibt es nichts.`,
  keys: 'Pfeiltasten bewegen, Enter geht dorthin, Escape schließt.',
}
