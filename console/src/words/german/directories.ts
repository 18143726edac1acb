import type { SetUpWords } from '../set-up-words.ts'
import { match } from './directory-match.ts'
import { conflicts, connect, push } from './directory-parts.ts'

type Directories = SetUpWords['directories']

const number = (count: number): string => count.toLocaleString('de')
const of = (count: number, one: string, many: string): string => `${number(count)} ${count === 1 ? one : many}`
const people = (count: number): string => of(count, 'Person', 'Personen')
const groups = (count: number): string => of(count, 'Gruppe', 'Gruppen')

const runs: Directories['runs'] = {
  title: 'Läufe',
  none: 'Es wurde noch nie gelesen. Sehen Sie zuerst nach: Das ändert nichts.',
  all: 'Alle Läufe zeigen',
  outcomes: {
    waits: 'Beginnt',
    going: 'Läuft',
    stopped: 'Angehalten',
    failed: 'Gescheitert',
    looked: 'Nachgesehen',
    read: 'Gelesen',
  },
  by: { schedule: 'nach Zeitplan', person: 'auf Wunsch', confirmed: 'mit bestätigten Abgängen' },
  people: (count) => `${people(count)} im Verzeichnis:`,
  peopleAlone: (count) => `${people(count)} im Verzeichnis.`,
  groups: (count) => `${groups(count)} im Verzeichnis:`,
  groupsAlone: (count) => `${groups(count)} im Verzeichnis.`,
  nothing: 'Es gibt nichts zu ändern.',
  counts: {
    added: (count) => `${number(count)} neu`,
    adopted: (count) => `${number(count)} von der Anmeldung übernommen`,
    changed: (count) => `${number(count)} geändert`,
    enabled: (count) => `${number(count)} wieder aktiv`,
    disabled: (count) => `${number(count)} deaktiviert`,
    to_settle: (count) => `${number(count)} zu klären`,
    left_out: (count) => `${number(count)} ausgelassen`,
    failed: (count) => `${number(count)} gescheitert`,
    groups_added: (count) => `${number(count)} neu`,
    groups_changed: (count) => `${number(count)} geändert`,
    groups_emptied: (count) => `${number(count)} geleert`,
    groups_failed: (count) => `${number(count)} gescheitert`,
  },
  wouldBe: 'Nichts wurde geändert. Das würde geschehen:',
  ended: (grants, seconds) =>
    grants === 1
      ? `1 Zugriff beendet, weg nach ${seconds}.`
      : `${number(grants)} Zugriffe beendet, alle weg nach ${seconds}.`,
  endedAtOnce: (grants) => `${of(grants, 'Zugriff', 'Zugriffe')} beendet.`,
  ending: (gone, grants) => `${number(gone)} von ${of(grants, 'Zugriff', 'Zugriffen')} am Ziel schon weg.`,
  see: 'Änderungen ansehen',
  seePlan: 'Ansehen, was sich ändern würde',
  seeProgress: 'Fortschritt ansehen',
  progress: {
    begins: 'Der Lauf beginnt gleich.',
    reading: (some, ofThem) => `Gelesen sind bisher ${people(some)} und ${groups(ofThem)}.`,
    people: (done, total) => `Personen werden geschrieben: ${number(done)} von ${of(total, 'Änderung', 'Änderungen')}.`,
    groups: (done, total) => `Gruppen werden geschrieben: ${number(done)} von ${of(total, 'Änderung', 'Änderungen')}.`,
  },
}

const run: Directories['run'] = {
  title: (directory) => `Lauf von ${directory}`,
  lookTitle: (directory) => `Nachgesehen in ${directory}`,
  back: 'Zurück zum Verzeichnis',
  changes: 'Was sich geändert hat',
  plan: 'Was sich ändern würde',
  change: 'Änderung',
  anyChange: 'Jede Änderung',
  outcome: 'Ergebnis',
  anyOutcome: 'Jedes Ergebnis',
  changeKinds: {
    absent: 'Nicht mehr im Verzeichnis',
    disable: 'Im Verzeichnis deaktiviert',
    empty: 'Gruppe verliert ihre Mitglieder',
    add: 'Neu',
    adopt: 'Von der Anmeldung übernommen',
    change: 'Geändert',
    enable: 'Wieder aktiv',
    settle: 'Adresse ist vergeben: zu klären',
    left_out: 'Ausgelassen',
    invalid: 'Daten unbrauchbar',
  },
  outcomeKinds: { planned: 'Nicht getan', done: 'Getan', refused: 'Abgelehnt', none: 'Nichts zu tun' },
  group: 'Benutzergruppe',
  none: 'Das ändert niemanden.',
  noMatch: 'Nichts passt dazu.',
  clear: 'Filter entfernen',
  noRight: 'Wen das ändert, sieht, wer Personen sehen darf.',
  forgotten: 'Die Änderungen der letzten zehn Läufe bleiben erhalten.',
  readNow: 'Stimmt das? Dann lassen Sie es lesen.',
}

const removals: Directories['removals'] = {
  title: (count) => (count === 1 ? '1 Person würde gehen' : `${number(count)} Personen würden gehen`),
  groupsTitle: (count) =>
    count === 1
      ? '1 Gruppe würde ihre Mitglieder verlieren'
      : `${number(count)} Gruppen würden ihre Mitglieder verlieren`,
  unchanged:
    'Niemand wurde geändert. Stimmt es, bestätigen Sie es. Stimmt es nicht, berichtigen Sie das Verzeichnis oder wie es gelesen wird, und lesen Sie es noch einmal.',
  absent: 'Ansehen, wer nicht mehr im Verzeichnis ist',
  disabled: 'Ansehen, wer dort deaktiviert ist',
  emptied: 'Gruppen ansehen',
  act: (count) => (count === 1 ? '1 Person gehen lassen' : `${number(count)} Personen gehen lassen`),
  groupsAct: (count) => (count === 1 ? '1 Gruppe leeren' : `${number(count)} Gruppen leeren`),
  question: (count) => (count === 1 ? '1 Person gehen lassen?' : `${number(count)} Personen gehen lassen?`),
  groupsQuestion: (count) => (count === 1 ? '1 Gruppe leeren?' : `${number(count)} Gruppen leeren?`),
  consequences: (some, ofThem) => {
    const parts = [
      some > 0 &&
        `${people(some)} ${some === 1 ? 'kann' : 'können'} sich nicht mehr anmelden: Sitzungen, Anträge und Zugriff enden sofort.`,
      ofThem > 0 &&
        `${groups(ofThem)} ${ofThem === 1 ? 'verliert ihre Mitglieder und behält' : 'verlieren ihre Mitglieder und behalten'} ihre Rollen.`,
    ]
    const what = parts.filter((part) => part !== false).join(' ')
    return `${what} Das Verzeichnis wird vorher noch einmal gelesen, und nur wen dieser Lauf nannte, kann gehen.`
  },
  noRight: 'Bestätigen kann, wer Verzeichnisse lesen lassen und Personen ändern darf.',
}

export const directories: Directories = {
  title: 'Verzeichnisse',
  intro:
    'Personen und Gruppen kommen aus Ihren Verzeichnissen. Wer dort gesperrt wird, verliert hier Sitzungen, Anträge und Zugriff.',
  none: 'Kein Verzeichnis ist verbunden: Personen treten durch eine Einladung bei. Verbinden Sie eines, dann legt es Ihre Benutzer an und sperrt, wer geht.',
  noneToRead: 'Kein Verzeichnis ist verbunden.',
  connectOne: 'Verzeichnis verbinden',
  noSync: 'Sie dürfen dieses Verzeichnis sehen, aber nicht lesen lassen.',
  ways: {
    push: 'Sendet über SCIM',
    ldap: 'Über LDAP gelesen',
    scim: 'Über SCIM gelesen',
    center: 'AWS Identity Center',
  },
  services: { chat_service: 'Chat-Dienst', code_hosting: 'Code-Plattform', incident_service: 'Bereitschaftsdienst' },
  states: {
    off: 'Ausgeschaltet',
    reading: 'Wird gelesen',
    looking: 'Sieht nach',
    waits: 'Wartet auf Bestätigung',
    failed: 'Gescheitert',
    silent: 'Noch nicht',
    inOrder: 'In Ordnung',
  },
  silentPush: 'Es hat sich noch nicht gemeldet.',
  silentRead: 'Es wurde noch nicht gelesen.',
  calledAt: (moment) => `Zuletzt gemeldet ${moment}`,
  readAt: (moment) => `Zuletzt gelesen ${moment}`,
  schedule: {
    every: (minutes) => (minutes === 1 ? 'Wird jede Minute gelesen.' : `Wird alle ${number(minutes)} Minuten gelesen.`),
    notYet: 'Der Zeitplan beginnt mit dem ersten Lauf, der gelingt.',
    never: 'Es hat keinen Zeitplan: Es wird gelesen, wenn es jemand verlangt.',
    next: (moment) => `Als Nächstes ${moment}.`,
    onlyLooks: 'Nach den Einstellungen sieht jeder Lauf nur nach.',
  },
  look: 'Zuerst nachsehen',
  readNow: 'Jetzt lesen',
  again: 'Noch einmal nachsehen',
  lookMeans: 'Nachsehen liest alles und ändert nichts.',
  off: 'Es ist ausgeschaltet: Nichts, was es sendet oder hat, wird übernommen.',
  switchOn: 'Einschalten',
  switchOff: 'Ausschalten',
  switchOffTitle: (name) => `${name} ausschalten?`,
  switchOffConsequences:
    'Die Benutzer bleiben, wie sie sind, auch wer geht: Bis zum Einschalten sperrt das Verzeichnis niemanden. Ein Lauf, der im Gange ist, endet.',
  switchOffAct: 'Ausschalten',
  switchedOn: 'Es ist eingeschaltet.',
  switchedOff: 'Es ist ausgeschaltet.',
  runs,
  run,
  removals,
  conflicts,
  push,
  match,
  connect,
}
