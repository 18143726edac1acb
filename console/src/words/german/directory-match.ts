import type { SetUpWords } from '../set-up-words.ts'

const number = (count: number): string => count.toLocaleString('de')
const people = (count: number): string => `${number(count)} ${count === 1 ? 'Person' : 'Personen'}`

export const match: SetUpWords['directories']['match'] = {
  title: 'Wer passt zusammen?',
  intro:
    'Fügen Sie die Benutzerliste ein, die Ihr Verzeichnis zum Herunterladen anbietet, oder wählen Sie ihre Datei. Niemand wird dadurch angelegt.',
  list: 'Benutzerliste',
  hint: 'CSV mit den Benutzernamen, und mit Adressen und Ids, wo es sie gibt; oder eine Adresse je Zeile.',
  file: 'Datei wählen',
  see: 'Zeigen, wer passt',
  faults: {
    empty: 'In dieser Liste ist niemand. Fügen Sie mindestens eine Zeile mit einer Adresse ein.',
    noNames:
      'Keine Spalte heißt userName, userPrincipalName, login oder email. Nennen Sie die Spalte mit den Benutzernamen so.',
    large: 'Das sind mehr als 50.000 Personen. Versuchen Sie es mit einem Teil der Liste.',
  },
  progress: (done, total) => `Bisher ${number(done)} von ${people(total)}.`,
  people: (count) => `${people(count)}:`,
  counts: {
    known: (count) => `${number(count)} schon bekannt`,
    added: (count) => `${number(count)} neu`,
    adopted: (count) => `${number(count)} von der Anmeldung übernommen`,
    to_settle: (count) => `${number(count)} zu klären`,
    left_out: (count) => `${number(count)} getrennt gehalten`,
    refused: (count) => `${number(count)} abgelehnt`,
  },
  allFound: (target) => `${target} kennt alle.`,
  notFound: (count, target) =>
    `${target} kennt ${people(count)} unter dem Benutzernamen nicht: Zugriff dort würde scheitern.`,
  exceptions: 'Wen Sie ansehen sollten',
  kinds: {
    settle: 'Jemand hier hat die Adresse oder den Namen: Sie werden gefragt, wer das ist.',
    left_out: 'Von einer Person hier getrennt gehalten.',
    missing: (targets) => `Nicht in ${targets}.`,
  },
  more: (count) => `Und ${number(count)} weitere.`,
}
