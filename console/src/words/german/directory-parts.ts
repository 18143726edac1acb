import type { SetUpWords } from '../set-up-words.ts'

type Directories = SetUpWords['directories']

const number = (count: number): string => count.toLocaleString('de')

export const conflicts: Directories['conflicts'] = {
  title: 'Zu klären',
  intro:
    'Jemand im Verzeichnis hat die Adresse oder den Benutzernamen einer Person hier. Bis Sie sagen, wer das ist, wird niemand neu angelegt.',
  count: (count, isMore) => `${number(count)}${isMore ? ' oder mehr' : ''} zu klären`,
  there: 'Im Verzeichnis',
  here: 'Hier',
  left: 'Gegangen und deaktiviert',
  deactivated: 'Hier deaktiviert',
  address: 'Adresse dort',
  seenAt: (moment) => `dort zuletzt gesehen ${moment}`,
  keptApart: 'Getrennt gehalten',
  one: 'Es ist dieselbe Person',
  two: 'Es sind zwei Personen',
  oneOf: (name) => `Es ist dieselbe Person: ${name}`,
  twoOf: (name) => `Es sind zwei Personen: ${name}`,
  oneTitle: (there, here) => `Ist ${there} im Verzeichnis dieselbe Person wie ${here} hier?`,
  twoTitle: (there, here) => `Ist ${there} im Verzeichnis jemand anderes als ${here} hier?`,
  joins: (here, directory) =>
    `${directory} verwaltet ${here} ab jetzt: Name, Adresse, Abteilung und Gruppen kommen von dort, und wer dort gesperrt wird, ist hier gesperrt. Rollen und Zugriff hier bleiben.`,
  joinsActive: (here, directory) =>
    `${here} wurde hier deaktiviert und ist wieder aktiv, wenn ${directory} die Person als aktiv führt; es verwaltet sie ab jetzt. Die Rollen kommen zurück.`,
  comesBack: (here) =>
    `${here} kommt als die Person zurück, die es vorher war, mit den bisherigen Rollen, und ohne den Zugriff, der geendet hat.`,
  staysOut: (there) =>
    `${there} bleibt draußen, bis eine der beiden Personen eine andere Adresse hat. Hier ändert sich niemand.`,
  freesAddress: (here, there) =>
    `${here} ist gegangen und wird endgültig gelöscht, damit die Adresse frei ist. ${there} wird neu angelegt, wenn das Verzeichnis die Person wieder sendet.`,
  actOne: 'Zu einer Person machen',
  actTwo: 'Getrennt halten',
  actDelete: 'Löschen, wer ging',
  settled: 'Das ist geklärt.',
  noRight: 'Klären kann, wer Personen ändern darf.',
}

export const push: Directories['push'] = {
  title: 'Wie es Sallyport erreicht',
  enter: 'Geben Sie das in Ihrem Verzeichnis ein:',
  at: 'Ihr Verzeichnis',
  services: { entra: 'Microsoft Entra ID', okta: 'Okta', other: 'Ein anderes' },
  fields: {
    entra: { address: 'Tenant URL', key: 'Secret token' },
    okta: { address: 'SCIM 2.0 Base URL', key: 'OAuth Bearer Token' },
    other: { address: 'Adresse (Base URL)', key: 'Schlüssel (Bearer Token)' },
  },
  hints: {
    entra:
      'In Ihrer Unternehmensanwendung: Provisioning, Modus Automatic. Ändern Sie dann die Zuordnung von externalId auf objectId, mit Abgleichsrang 1.',
    okta: 'In der App „SCIM 2.0 Test App (OAuth Bearer Token)“: Provisioning, Configure API integration. Aktivieren Sie dann Create, Update und Deactivate unter To App.',
    other:
      'Alles, was über SCIM 2.0 provisioniert, kann seine Benutzer dorthin senden, mit dem Schlüssel als Bearer Token.',
  },
  guide: 'Die Anleitung „directories“ in docs/guides zeigt es Klick für Klick.',
  copyAddress: 'Adresse kopieren',
  copyKey: 'Schlüssel kopieren',
  once: 'Der Schlüssel wird nur jetzt gezeigt. Geben Sie ihn ein, bevor Sie diese Seite verlassen.',
  entered: 'Ich habe ihn eingegeben',
  keys: 'Schlüssel',
  noKeys: 'Es hat noch keinen Schlüssel, also kann das Verzeichnis sich nicht melden.',
  keyNoRight: 'Sie dürfen die Schlüssel nicht sehen.',
  madeAt: (moment) => `erstellt ${moment}`,
  usedAt: (moment) => `zuletzt benutzt ${moment}`,
  unused: 'nie benutzt',
  endsAt: (moment) => `gilt bis ${moment}`,
  ended: 'Abgelaufen',
  make: 'Schlüssel erstellen',
  makeAnother: 'Weiteren Schlüssel erstellen',
  two: 'Zwei Schlüssel zugleich machen den Wechsel leicht: Geben Sie den neuen ein, dann widerrufen Sie den alten.',
  revoke: 'Widerrufen',
  revokeKey: (name) => `Schlüssel ${name} widerrufen`,
  revokeTitle: (name) => `Schlüssel „${name}“ widerrufen?`,
  revokeConsequences:
    'Ein Verzeichnis, das ihn benutzt, wird ab dem nächsten Aufruf abgelehnt: Wer dort gesperrt wird, bleibt hier aktiv.',
  revokeAct: 'Schlüssel widerrufen',
  revoked: 'Der Schlüssel gilt nicht mehr.',
  keyName: (directory) => `SCIM-Schlüssel von ${directory}`,
  many: {
    title: 'Wenn viele auf einmal gehen',
    intro:
      'Entfernt es binnen einer Stunde mehr als 20 % seiner aktiven Benutzer und mindestens fünf, werden die Eigentümer sofort benachrichtigt.',
    ways: { notify: 'Gehen lassen', refuse: 'Weitere ablehnen, bis Sie nachgesehen haben' },
    saved: 'Das ist gespeichert.',
  },
  keyMissing: 'Das Verzeichnis ist angelegt, hat aber noch keinen Schlüssel. Erstellen Sie hier einen.',
}

export const connect: Directories['connect'] = {
  title: 'Verzeichnis verbinden',
  how: 'Wie gibt es seine Benutzer her?',
  ways: {
    push: 'Es sendet: Entra ID, Okta',
    ldap: 'LDAP, Active Directory',
    scim: 'Ein SCIM-Server',
    center: 'AWS Identity Center',
  },
  means: {
    push: 'Das Verzeichnis sendet Personen und Gruppen über SCIM 2.0, wenn sie sich ändern. Sie bekommen eine Adresse und einen Schlüssel, die Sie dort eingeben.',
    ldap: 'Sallyport liest es nach einem Zeitplan über TLS, mit einem Konto, das nur lesen kann.',
    scim: 'Sallyport liest /Users und /Groups eines Servers, der SCIM 2.0 spricht, nach einem Zeitplan.',
    center: 'Sallyport liest Personen und Gruppen von IAM Identity Center, über eine getestete Verbindung zu AWS.',
  },
  name: 'Bezeichnung',
  nameHint: 'Wie Sie es nennen, etwa „Unser Entra ID“.',
  nameNeeded: 'Geben Sie eine Bezeichnung ein.',
  needed: 'Das wird gebraucht.',
  make: 'Adresse und Schlüssel erstellen',
  look: 'Zuerst nachsehen',
  lookHint: 'Es wird einmal gelesen, und nichts wird geändert. Danach entscheiden Sie.',
  save: 'Speichern und nachsehen',
  settings: 'Wie es gelesen wird',
  settingsNote: 'Eine neue Einstellung beendet einen Lauf, der im Gange ist.',
  keepSecret: 'Leer lassen, um das gespeicherte zu behalten.',
  more: 'Eingrenzen, was gelesen wird, und andere Attribute',
  noConnection: 'Verbinden Sie zuerst AWS und testen Sie es: Dann kann es gelesen werden.',
  toAws: 'Zu AWS',
  connection: 'Verbindung zu AWS',
  choose: 'Bitte wählen',
  tls: 'Verschlüsselung (TLS)',
  tlsWays: { at_once: 'Vom ersten Byte an (Port 636)', start_tls: 'Mit StartTLS (Port 389)' },
  noRight: 'Verbinden kann, wer Verzeichnisse, Personen, Gruppen und Schlüssel ändern darf.',
  fields: {
    host: { label: 'Servername', hint: 'Wie in seinem Zertifikat, etwa ldap.example.com.' },
    port: { label: 'Portnummer', hint: 'Wenn es nicht die übliche ist.' },
    base_dn: { label: 'Basis', hint: 'Etwa dc=example,dc=com.' },
    bind_dn: { label: 'Lesekonto', hint: 'Sein DN; in Active Directory auch sallyport@corp.example.com.' },
    bind_password: { label: 'Passwort des Lesekontos', hint: 'Es wird versiegelt und nie wieder gezeigt.' },
    ca_certificate: {
      label: 'Zertifikat Ihrer eigenen Stelle',
      hint: 'Als PEM. Leer lassen, wenn eine öffentliche Stelle das Zertifikat des Servers ausgestellt hat.',
    },
    user_base_dn: { label: 'Basis der Personen', hint: 'Etwa ou=people,dc=example,dc=com.' },
    group_base_dn: { label: 'Basis der Gruppen', hint: 'Etwa ou=groups,dc=example,dc=com.' },
    user_filter: { label: 'Filter der Personen', hint: 'Etwa (department=Engineering).' },
    group_filter: { label: 'Filter der Gruppen', hint: 'Etwa (cn=aws-*).' },
    id_attribute: { label: 'Attribut der Kennung', hint: 'Eines, das sich nie ändert. Üblich: entryUUID, objectGUID.' },
    user_name_attribute: { label: 'Attribut des Benutzernamens', hint: 'Üblich: userPrincipalName, uid.' },
    email_attribute: { label: 'Attribut der Adresse', hint: 'Üblich: mail.' },
    department_attribute: { label: 'Attribut der Abteilung', hint: 'Üblich: department, departmentNumber.' },
    title_attribute: { label: 'Attribut der Position', hint: 'Üblich: title.' },
    manager_attribute: { label: 'Attribut der Führungskraft', hint: 'Üblich: manager.' },
    base_url: { label: 'Adresse des Servers', hint: 'Mit https, bis vor /Users: etwa https://scim.example.com/v2.' },
    token: {
      label: 'Zugangstoken',
      hint: 'Ein Bearer Token, das lesen kann. Es wird versiegelt und nie wieder gezeigt.',
    },
    sync_interval_minutes: {
      label: 'Minuten zwischen zwei Läufen',
      hint: '5 bis 10080, oder 0 für keinen Zeitplan. Üblich: 60.',
    },
  },
}
