type Kind = {
  means: string
  /** Whether notifications of the kind are mailed to a person who has not chosen. */
  mailed_by_default: boolean
  /** Its mails go before the others of the tenant. */
  urgent?: boolean
}

/**
 * The kinds of notifications, by which people choose what is also mailed to them.
 * docs/reference/notifications.md is generated from this table.
 */
export const notificationKinds = {
  decision_needed: { mailed_by_default: true, means: 'a request waits for your decision' },
  emergency: {
    mailed_by_default: true,
    urgent: true,
    means: 'a user took access in an emergency, without an approver',
  },
  request_decided: {
    mailed_by_default: true,
    means: 'your request was approved or denied, has expired, or was cancelled',
  },
  comment: {
    mailed_by_default: true,
    means: 'a comment on your request, or by its requester on a request that you may decide',
  },
  access_active: { mailed_by_default: true, means: 'your access has begun, and how to connect' },
  access_ending: { mailed_by_default: true, means: 'your access ends soon' },
  access_revoked: { mailed_by_default: true, means: 'your access was ended before its time' },
  access_ended: { mailed_by_default: false, means: 'your access has ended on time' },
  access_failed: {
    mailed_by_default: true,
    means: 'your access could not be given or taken away, or was changed at its target by hand',
  },
  administration: { mailed_by_default: true, means: 'something that you administer needs you' },
  security: {
    mailed_by_default: true,
    urgent: true,
    means: 'a refresh token of yours was used twice, or a user of your tenant was suspended',
  },
} as const satisfies Record<string, Kind>

export type NotificationKind = keyof typeof notificationKinds

export const kindNames = Object.keys(notificationKinds) as NotificationKind[]

/** What a person has chosen; a kind that is absent is mailed as its default says. */
export type MailChoices = Partial<Record<NotificationKind, boolean>>

export function isChosen(kind: NotificationKind, choices: MailChoices): boolean {
  return choices[kind] ?? notificationKinds[kind].mailed_by_default
}

export function isUrgent(kind: NotificationKind): boolean {
  const { urgent = false }: Kind = notificationKinds[kind]
  return urgent
}
