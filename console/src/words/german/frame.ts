import type { Words } from '../words.ts'

export const frame: Words['frame'] = {
  product: 'Sallyport',
  skip: 'Zum Inhalt springen',
  navigation: 'Hauptnavigation',
  access: 'Zugriff',
  inbox: 'Eingang',
  waiting: (count) => `${count} offen`,
  setUp: 'Einrichten',
  you: 'Sie',
  signOut: 'Abmelden',
  rehearsal: 'Probe: Nichts hier ist echt',
  mode: (isLive) => (isLive ? 'im Echtbetrieb' : 'in der Probe'),
  offline: 'Der Dienst antwortet nicht. Was Sie sehen, ist vielleicht veraltet. Wir versuchen es von selbst weiter.',
  notifications: 'Mitteilungen',
  unread: (count) => (count === 0 ? 'Mitteilungen' : `Mitteilungen, ${count} ungelesen`),
  markAllRead: 'Alle als gelesen markieren',
  noNotifications: 'Noch nichts. Hier lesen Sie, was mit Ihren Anträgen und Ihrem Zugriff geschieht.',
  insecure: 'Die Konsole funktioniert unter dieser Adresse nicht',
  insecureText:
    'Browser halten keine Anmeldung unter einer Adresse, die weder https noch dieser Rechner ist. Fragen Sie Ihren Betrieb nach der Adresse des Dienstes.',
  notFound: 'Diese Seite gibt es nicht',
  notFoundText: 'Die Adresse ist vielleicht unvollständig, oder Sie dürfen den Eintrag nicht sehen.',
  home: 'Zu Ihrem Zugriff',
  failed: 'Diese Seite ist abgestürzt',
  failedText: 'Laden Sie sie neu. Stürzt sie wieder ab, sagen Sie Ihrem Administrator, was Sie getan haben.',
  reload: 'Neu laden',
}
