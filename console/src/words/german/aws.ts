import type { SetUpWords } from '../set-up-words.ts'

const number = (count: number): string => count.toLocaleString('de')
const of = (count: number, one: string, many: string): string => `${number(count)} ${count === 1 ? one : many}`

const listFormat = new Intl.ListFormat('de')

export const aws: SetUpWords['aws'] = {
  title: 'AWS',
  intro: 'Zugriff auf Ihre AWS-Konten wird hier beantragt und über IAM Identity Center gegeben.',
  three: 'Drei Antworten verbinden AWS: Region, Konto, los.',
  connection: 'Verbindung',
  connectAnother: 'Weitere verbinden',
  states: {
    role: 'Als Nächstes kommt die Rolle in AWS.',
    test: 'Der Test hat etwas gefunden, das zu beheben ist.',
    on: 'Der Test ist bestanden. Die Verbindung ist noch nicht eingeschaltet.',
    isOn: 'Sie ist eingeschaltet: Zugriff wird in AWS gegeben.',
  },
  acts: { role: 'Rolle anlegen', test: 'Test ansehen', on: 'Einschalten', isOn: 'AWS öffnen' },
  steps: {
    answers: 'Region und Konto',
    role: 'Rolle in AWS anlegen',
    test: 'Testen',
    sight: 'Was Sallyport sieht',
    on: 'Einschalten',
  },
  done: 'Erledigt',
  next: 'Als Nächstes',
  todo: 'Offen',
  noWrite: 'Sie dürfen diese Verbindung sehen, aber nicht ändern.',
  nothingYet: 'AWS ist nicht verbunden.',
  answers: {
    form: 'AWS verbinden',
    region: 'AWS-Region',
    regionHint: 'Wo IAM Identity Center aktiviert ist, zum Beispiel eu-central-1.',
    regionWrong: 'Geben Sie eine Region ein, zum Beispiel eu-central-1.',
    account: 'Konto',
    accountHint:
      '12 Ziffern: das Verwaltungskonto Ihrer Organisation, oder das Konto, an das Identity Center delegiert ist.',
    accountWrong: 'Geben Sie die 12 Ziffern des Kontos ein.',
    go: 'Los',
    given: (account, region) => `Konto ${account}, in ${region}.`,
  },
  role: {
    identity: 'AWS kennt Sallyport als',
    trusts: 'Das Snippet legt eine Rolle an. Nur Sallyport kann sie annehmen, und nur mit der External ID darin.',
    once: 'Es wird nur jetzt gezeigt. Wenden Sie es an, bevor Sie diese Seite verlassen.',
    form: 'Anwenden mit',
    snippet: 'Das Snippet',
    copy: 'Snippet kopieren',
    download: (file) => `${file} herunterladen`,
    run: 'Legen Sie die Datei in einen Ordner, melden Sie sich am Konto an, und führen Sie dort aus:',
    command: 'Befehl',
    copyCommand: 'Befehl kopieren',
    lost: 'Das Snippet wurde einmal gezeigt, als seine External ID entstand. Haben Sie es angewendet, testen Sie. Ist es verloren, erzeugen Sie eine neue External ID: Das Snippet kommt mit ihr.',
    trusted: 'Die Rolle lässt Sallyport ein.',
    renew: 'Neue External ID erzeugen',
    renewTitle: 'Neue External ID erzeugen?',
    renewConsequences:
      'Die bisherige gilt noch einen Tag. Wenden Sie das neue Snippet bis dahin an: Sonst kann Sallyport in AWS keinen Zugriff mehr geben oder entfernen.',
    renewAct: 'Neue ID erzeugen',
  },
  test: {
    test: 'Testen',
    again: 'Noch einmal testen',
    intro: 'Der Test ändert in AWS nichts.',
    running: 'Der Test läuft…',
    lines: 'Prüfungen',
    kinds: {
      identity: 'Sallyport hat eine eigene Identität',
      role: 'Die Rolle kann angenommen werden, mit der External ID',
      instance: 'Die Instanz von Identity Center',
      store: 'Das Verzeichnis (Identity Store)',
      organization: 'Die Organisation',
      sets: 'Die Permission Sets',
      rights: 'Zugriff geben und entfernen',
    },
    states: { ok: 'Bestanden', failed: 'Fehlgeschlagen', pending: 'Noch nicht geprüft' },
    passed: (at) => `Alles bestanden um ${at}.`,
    failed: (count, at) =>
      `${of(count, 'Prüfung ist', 'Prüfungen sind')} um ${at} fehlgeschlagen. Was zu tun ist, steht jeweils dabei.`,
  },
  sight: {
    before: 'Nach dem Test liest Sallyport hier, was es in AWS gibt. Es entscheidet nichts danach.',
    reading: 'Sallyport liest AWS. Diese Seite zieht nach.',
    seen: (accounts, sets, people) =>
      `${of(accounts, 'Konto', 'Konten')}, ${of(sets, 'Permission Set', 'Permission Sets')}, ${of(people, 'Person', 'Personen')}.`,
    more: (units, databases, groups) => {
      const parts = [
        units > 0 && of(units, 'Organisationseinheit', 'Organisationseinheiten'),
        databases > 0 && of(databases, 'Datenbank', 'Datenbanken'),
        groups > 0 && of(groups, 'Gruppe', 'Gruppen'),
      ].filter((part) => part !== false)
      return parts.length === 0 ? '' : `Dazu ${listFormat.format(parts)}.`
    },
    parts: {
      accounts: 'Konten',
      permission_sets: 'Alle Permission Sets',
      people: 'Personen',
      databases: 'Datenbanken',
      assignments: 'Zuweisungen',
    },
    failed: (part) => `${part} konnten nicht gelesen werden:`,
    note: (part) => `Zu ${part}:`,
    asOf: 'Stand',
    refresh: 'Neu lesen',
    allMatch: 'Für alle hier gibt es eine Person in AWS.',
    unmatched: (count, isMore) => {
      const many = `${number(count)}${isMore ? ' oder mehr' : ''}`
      return count === 1 && !isMore ? '1 Person hat keine Entsprechung.' : `${many} Personen haben keine Entsprechung.`
    },
    unmatchedText:
      'Sallyport findet für sie keinen Benutzer in AWS: Zugriff, der für sie genehmigt wird, kann nicht gegeben werden.',
    unmatchedList: 'Personen ohne Entsprechung',
    otherDomain: 'Andere Domain als die Benutzernamen in AWS',
    lookedFor: (login) => `Gesucht: ${login}`,
    longSessions: (longest) =>
      `Sitzungen dieser Sets können länger dauern als der längste Zugriff von ${longest}. Verkürzen Sie sie in AWS:`,
    longSessionList: 'Permission Sets mit langen Sitzungen',
    session: (duration) => `Sitzungen von ${duration}`,
  },
  on: {
    serves: 'Sie gibt Zugriff auf',
    kinds: {
      cloud_account: 'Konten, mit Permission Sets und Organisationseinheiten',
      cloud_db_instance: 'Datenbanken',
      cloud_storage_bucket: 'S3-Buckets',
      cloud_compute_instance: 'Maschinen',
    },
    servesHint: 'Datenbanken und Buckets brauchen zuerst einen Eintrag in der Konfiguration.',
    servesNamed: 'Sie gibt Zugriff auf das, was ihre Konfiguration nennt.',
    servesNothing: 'Wählen Sie mindestens eines.',
    testFirst: 'Einschalten können Sie, wenn der Test bestanden ist.',
    act: 'Einschalten',
    title: 'Zugriff in AWS einschalten?',
    goesLive:
      'Die Organisation geht in den Echtbetrieb, und zwar für immer: Die Probe endet, und was sie angelegt hat, wird entfernt.',
    consequences: 'Von jetzt an wird genehmigter Zugriff in AWS gegeben.',
    factorFirst: 'Im Echtbetrieb brauchen Sie einen zweiten Faktor, und sehen vorher nichts.',
    setUpFactor: 'Richten Sie zuerst einen ein.',
    live: 'Diese Organisation ist jetzt im Echtbetrieb.',
    liveText: 'Genehmigter Zugriff wird in AWS gegeben, und dort am Ende entfernt.',
    request: 'Zugriff beantragen',
  },
  standing: {
    title: 'Bestehender Zugriff',
    intro: 'Wer in AWS wo welches Permission Set hat, ob von Sallyport gegeben oder nicht.',
    total: (assignments, administrators) =>
      `${of(assignments, 'Zuweisung', 'Zuweisungen')}, ${of(administrators, 'Administrator', 'Administratoren')}`,
    order: 'Reihenfolge',
    byAccount: 'Nach Konto',
    byPerson: 'Nach Person',
    administrators: 'Nur Administratoren',
    search: 'Suche',
    searchHint: 'Der Anfang eines Namens, einer Kontonummer oder eines Permission Sets.',
    csv: 'CSV herunterladen',
    administrator: 'Administratorrechte',
    given: 'Von Sallyport gegeben',
    group: 'Gruppe, keine Mitglieder bekannt',
    viaGroup: (group) => `durch die Gruppe ${group}`,
    none: 'Niemand hat etwas in AWS.',
    noMatch: 'Nichts passt dazu.',
    clear: 'Filter entfernen',
  },
}
