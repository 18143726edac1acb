/** How long a notification is kept: older ones are deleted when their tenant gets new ones, or when their events are dropped. */
export const notificationDays = 180
