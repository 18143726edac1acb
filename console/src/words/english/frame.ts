export const frame = {
  product: 'Sallyport',
  skip: 'Skip to the content',
  navigation: 'Main',
  access: 'Access',
  inbox: 'Inbox',
  /** Read by screen readers beside the number. */
  waiting: (count: string) => `${count} waiting`,
  setUp: 'Set up',
  aws: 'AWS',
  directories: 'Directories',
  /** The way to the page of oneself: “account” is said of clouds. */
  you: 'You',
  /** The last tab on a phone, where there are more pages than tabs. */
  more: 'More',
  signOut: 'Sign out',
  rehearsal: 'Rehearsal: nothing here is real',
  /** Beside the name of the organization. */
  mode: (isLive: boolean): string => (isLive ? 'live' : 'in rehearsal'),
  offline: 'The service does not answer. What you see may be old; we try again by ourselves.',
  notifications: 'Notifications',
  unread: (count: number) => (count === 0 ? 'Notifications' : `Notifications, ${count} unread`),
  markAllRead: 'Mark all as read',
  noNotifications: 'Nothing yet. You read here what happens to your requests and your access.',
  insecure: 'The console does not work at this address',
  insecureText:
    'Browsers keep no session at an address that is neither https nor this machine. Ask your operator for the address of the service.',
  notFound: 'This page does not exist',
  notFoundText: 'The address may be incomplete, or the record is not yours to see.',
  home: 'Go to your access',
  failed: 'This page broke',
  failedText: 'Load it again. If it breaks again, tell your administrator what you did.',
  reload: 'Load again',
}
