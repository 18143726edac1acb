import type { GainsLine } from '../english/rules.ts'
import type { SetUpWords } from '../set-up-words.ts'

const list = ({ count, names }: GainsLine['people']): string => {
  const shown = names.slice(0, count <= 3 ? 3 : 2)
  const rest = count - shown.length
  const last = rest > 0 ? `${rest} weitere` : shown.pop()
  return [shown.join(', '), last].filter(Boolean).join(' und ')
}

const peopleOf = ({ count }: GainsLine['people']) => (count === 1 ? '1 Person' : `${count} Personen`)
const one = (count: number, singular: string, plural: string) => (count === 1 ? singular : plural)

const on = ({ count, names }: GainsLine['accounts']) => (count === 1 ? `auf „${names[0]}“` : `auf ${count} Konten`)

const change: SetUpWords['rules']['gains']['change'] = ({ kind, action, people, accounts, isAtOnce, isEmergency }) => {
  const what = `${action} ${on(accounts)}${isEmergency ? ' im Notfall' : ''}`
  const how = isAtOnce ? 'sofort' : 'mit Genehmigung'
  const verbs = {
    gains: `${one(people.count, 'erhält', 'erhalten')} neu ${what}, ${how}`,
    loses: `${one(people.count, 'verliert', 'verlieren')} ${what}`,
    at_once: `${one(people.count, 'braucht', 'brauchen')} keine Genehmigung mehr für ${what}`,
    needs_approval: `${one(people.count, 'braucht', 'brauchen')} ab jetzt eine Genehmigung für ${what}`,
  }
  return `${peopleOf(people)} ${verbs[kind]}: ${list(people)}.`
}

export const rules: SetUpWords['rules'] = {
  intro:
    'Niemand erhält Zugriff, solange keine Regel es sagt. Die Regeln, die Sie hier hinzufügen, stehen in der Richtlinie „Access“.',
  none: 'Hier gibt es noch keine Regel: Beginnen Sie mit einer von diesen.',
  notOfRehearsal: 'Die zwei Regeln der Probe stehen hier nicht: Sie enden mit ihr.',
  remove: 'Entfernen',
  removeNamed: (sentence) => `Entfernen: ${sentence}`,
  removeTitle: 'Diese Regel entfernen?',
  removeChangedTitle: 'Diese Regel wurde inzwischen geändert. Entfernen, wie sie jetzt ist?',
  removeConsequences: {
    permit: (sentence) =>
      `„${sentence}“ Das endet für neue Anträge, wenn keine andere Regel dasselbe erlaubt. Zugriff, den jemand jetzt hat, bleibt bis zu seinem Ende.`,
    forbid: (sentence) =>
      `„${sentence}“ Das endet. Wo eine andere Regel Zugriff sofort gibt, muss ihn niemand mehr genehmigen.`,
    other: 'Was sie sagt, gilt für neue Anträge nicht mehr. Zugriff, den jemand jetzt hat, bleibt bis zu seinem Ende.',
  },
  removeRule: 'Regel entfernen',
  removed: 'Die Regel ist entfernt.',
  other: 'Eine Regel, die sich hier nicht als Satz zeigen lässt:',
  asCedar: 'Als Cedar',
  add: 'Regel hinzufügen',
  template: 'Worum soll es gehen?',
  templates: {
    at_once: 'Lesen, sofort',
    approval: 'Produktion mit Genehmigung',
    administrator: 'Administratorrechte',
    emergency: 'Notfall',
    working_hours: 'Datenbanken zur Arbeitszeit',
  },
  sentences: {
    at_once: '{who} dürfen {action} auf {where} sofort erhalten, für höchstens {seconds}.',
    approval: '{who} dürfen Zugriff auf alles in {where} erst erhalten, wenn eine Person ihn genehmigt hat.',
    administrator:
      '{who} dürfen {action} auf {where} für höchstens {seconds} erhalten, wenn eine Person es genehmigt hat.',
    emergency: '{who} dürfen im Notfall {action} auf {where} sofort erhalten, für höchstens {seconds}.',
    working_hours:
      '{who} dürfen, wenn sie es von Montag bis Freitag zwischen {from} und {until} beantragen, {action} auf den Datenbanken in {where} sofort erhalten, für höchstens {seconds}.',
  },
  notes: {
    at_once:
      'Niemand wird gefragt. Sie selbst brauchen bei einer Regel, die Sie hinzugefügt haben, weiterhin eine Genehmigung.',
    approval:
      'Sie gibt niemandem Zugriff: Sie macht eine Genehmigung nötig, wo andere Regeln Zugriff sofort geben. Für Notfälle ändert sich nichts.',
    administrator: 'Wer genehmigen darf, wird benachrichtigt, und eine Person entscheidet.',
    emergency: 'Eine Begründung ist nötig. Alle, die genehmigen dürfen, werden benachrichtigt. Es wird protokolliert.',
    working_hours: 'Nach der Zeitzone Ihrer Organisation. Die Aktion ist die Rolle in der Datenbank, die man erhält.',
  },
  slots: {
    who: 'Wer',
    action: 'Aktion',
    where: 'Wo',
    seconds: 'Für höchstens',
    from: 'Von',
    until: 'Bis',
  },
  everyone: 'Alle',
  group: (name) => `Mitglieder von ${name}`,
  role: (name) => `Alle mit der Rolle ${name}`,
  groups: 'Gruppen',
  roles: 'Rollen',
  midnight: 'Mitternacht',
  allAccounts: 'allen Konten',
  tagged: (tag, value) => `Konten mit ${tag} = ${value}`,
  byTag: 'Konten nach Tag',
  oneAccount: 'Ein Konto',
  notAll: 'Die Listen zeigen nur die ersten 1.000 Einträge.',
  faults: {
    action: 'Nennen Sie eine Aktion, die man beantragt, etwa ReadOnlyAccess: eine Zeile, nicht „approve“.',
    hours: 'Wählen Sie ein Ende, das nach dem Beginn liegt.',
  },
  save: 'Regel hinzufügen',
  saved: 'Die Regel ist hinzugefügt.',
  warned: 'Die Regel ist hinzugefügt. Beachten Sie:',
  gains: {
    title: 'Was sich dadurch ändert',
    asking: 'Es wird geprüft, was sich dadurch ändert …',
    change,
    more: (count) => (count === 1 ? 'und 1 weitere Änderung' : `und ${count} weitere Änderungen`),
    from: (moment) => `Nicht jetzt, aber ab ${moment}:`,
    nobody:
      'Niemand erhält dadurch mehr Zugriff: Alle können ihn schon erhalten, oder die Regel trifft auf niemanden zu.',
    noAccounts: 'Niemand erhält dadurch mehr Zugriff: Noch ist kein Konto bekannt.',
    noPeople: 'Niemand erhält dadurch mehr Zugriff: Noch darf niemand Zugriff beantragen.',
    noChange: 'Für diese Konten ändert sich jetzt nichts: Keine andere Regel gibt Zugriff auf sie sofort.',
    others:
      'Datenbanken und andere Ressourcen sind hier nicht aufgeführt. Was sich für sie ändert, wird nicht gezählt.',
    cut: 'Es kann mehr sein: Die Prüfung dauerte zu lange.',
    partly: (people, accounts) => `Nur ${people} Personen und ${accounts} Konten wurden geprüft: Es können mehr sein.`,
    notYours: 'Sie dürfen Personen und Konten nicht sehen, daher wird nicht gezeigt, wer dadurch Zugriff erhält.',
  },
}
