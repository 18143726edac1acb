/**
 * The kinds of notifications, by which people choose what is also mailed to them. `mailed`: whether it is while a person has not chosen.
 * docs/reference/notifications.md is generated from this table.
 */
export const notificationKinds = {
  decision_needed: { mailed: true, means: 'a request waits for your decision' },
  emergency: { mailed: true, means: 'a user took access in an emergency, without an approver' },
  request_decided: { mailed: true, means: 'your request was approved or denied, has expired, or was cancelled' },
  comment: { mailed: true, means: 'a comment on your request, or by its requester on a request that you may decide' },
  access_active: { mailed: true, means: 'your access has begun, and how to connect' },
  access_ending: { mailed: true, means: 'your access ends soon' },
  access_ended: { mailed: false, means: 'your access has ended' },
  access_failed: {
    mailed: true,
    means: 'your access could not be given or taken away, or was changed at its target by hand',
  },
  administration: { mailed: true, means: 'something that you administer needs you' },
} as const satisfies Record<string, { mailed: boolean; means: string }>

export type NotificationKind = keyof typeof notificationKinds

export const kindNames = Object.keys(notificationKinds) as NotificationKind[]

/** What a person has chosen; a kind that is absent is mailed as its default says. */
export type MailChoices = Partial<Record<NotificationKind, boolean>>

export function isChosen(kind: NotificationKind, choices: MailChoices): boolean {
  return choices[kind] ?? notificationKinds[kind].mailed
}
