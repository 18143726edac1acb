export const rehearsal = {
  /** The window of a colleague. */
  standIn: 'Act as a colleague of the rehearsal',
  standInText: 'This window acts as a colleague whom the rehearsal made, for 15 minutes. Your own windows stay yours.',
  standInHelp: 'It works in a browser in which an owner of the organization is signed in, while the rehearsal lasts.',
  goOn: 'Act as the colleague',
  standInOver: 'The 15 minutes are over',
  standInOverText: 'The page stays as it is. Go on for 15 more minutes?',
  bar: (name: string) => `Rehearsal: you act as ${name}`,
  leave: 'Close this window',
  continueAs: (name: string) => `Continue as ${name} in a new window`,
}
