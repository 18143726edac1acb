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
  /** The page of the first steps. */
  title: 'Rehearse first',
  text: 'See it work before anything is real: three accounts that exist nowhere, two rules, and your colleagues Ada and Ben. It takes two minutes.',
  begin: 'Rehearse first',
  steps: {
    ask: 'Request access to production',
    approve: 'Approve it as a colleague',
    refusal: 'Try what is not allowed',
    atOnce: 'See a rule approve at once',
  },
  stepTexts: {
    ask: 'Ada or Ben can approve. You cannot: nobody decides their own request.',
    approve: 'Your request has a button that opens a window in which you are Ben.',
    refusal: 'Administrator rights for 8 hours: read why not, and what would be allowed.',
    atOnce: 'Reading in the sandbox needs no person. You have it a second later.',
  },
  acts: { ask: 'Request it', approve: 'Open the request', refusal: 'Try it', atOnce: 'See it' },
  done: 'Done',
  todo: 'To do',
}
