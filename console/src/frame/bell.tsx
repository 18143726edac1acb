import { answerOf, type Schemas } from '@sallyport/client'
import { infiniteQueryOptions, useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Bell as BellIcon } from 'lucide-react'
import { type ReactNode, useId, useRef, useState } from 'react'
import { api } from '../api/api.ts'
import { useMe } from '../me/me.ts'
import { Button, IconButton } from '../parts/button.tsx'
import { Empty, LoadFailure, Loading } from '../parts/list-states.tsx'
import { LoadMore } from '../parts/load-more.tsx'
import { growing } from '../parts/next-page.ts'
import { Moment } from '../time/moment.tsx'
import { useWords } from '../words/words.ts'

type Notification = Schemas['Notification']

const notificationsQuery = infiniteQueryOptions({
  queryKey: ['notification', 'list'],
  queryFn: ({ pageParam: cursor }) =>
    answerOf(
      api.GET('/v1/users/me/notifications', { params: { query: { limit: 30, ...(cursor !== null && { cursor }) } } }),
    ),
  ...growing,
})

/** The notifications of the person, newest first, in a box that the browser closes when something else is used. */
export function Bell(): ReactNode {
  const words = useWords().frame
  const { unread_notifications: unread } = useMe()
  const box = useRef<HTMLDivElement>(null)
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  return (
    <>
      <IconButton label={words.unread(unread)} aria-expanded={isOpen} popoverTarget={id} className="relative">
        <BellIcon size={18} strokeWidth={1.75} aria-hidden="true" />
        {unread > 0 && (
          <span
            aria-hidden="true"
            className="absolute -top-0.5 -right-0.5 rounded-badge bg-accent px-1 text-meta text-on-accent"
          >
            {unread > 99 ? '99+' : unread}
          </span>
        )}
      </IconButton>
      <div
        ref={box}
        id={id}
        popover="auto"
        role="dialog"
        aria-label={words.notifications}
        onToggle={({ newState }) => setOpen(newState === 'open')}
        className="inset-auto top-20 right-4 m-0 max-h-[calc(100dvh-120px)] w-[min(400px,calc(100vw-32px))] overflow-y-auto rounded-card border border-line bg-surface p-4 text-text shadow-over lg:right-auto lg:left-4"
      >
        {isOpen && <Notifications unread={unread} close={() => box.current?.hidePopover()} />}
      </div>
    </>
  )
}

function Notifications({ unread, close }: { unread: number; close: () => void }): ReactNode {
  const words = useWords().frame
  const queries = useQueryClient()
  const list = useInfiniteQuery(notificationsQuery)
  const { data, error, refetch, isFetchNextPageError } = list
  const notifications = data?.pages.flatMap((page) => page.data)
  const [unmarked, setUnmarked] = useState<Error>()
  const readAll = async () => {
    setUnmarked(undefined)
    const call = answerOf(api.POST('/v1/users/me/notifications/read-all'))
    await call.catch((thrown: unknown) => setUnmarked(thrown as Error))
    await Promise.all(['notification', 'me'].map((kind) => queries.invalidateQueries({ queryKey: [kind] })))
  }
  return (
    <>
      <div className="flex items-center justify-between gap-2">
        <h2 className="font-semibold">{words.notifications}</h2>
        {unread > 0 && (
          <Button look="quiet" onClick={() => readAll()}>
            {words.markAllRead}
          </Button>
        )}
      </div>
      {unmarked !== undefined && <LoadFailure error={unmarked} retry={readAll} />}
      {error !== null && !isFetchNextPageError && <LoadFailure error={error} retry={refetch} />}
      {notifications === undefined && error === null && <Loading />}
      {notifications?.length === 0 && <Empty>{words.noNotifications}</Empty>}
      <ul className="divide-y divide-line">
        {notifications?.map((notification) => (
          <li key={notification.id}>
            <Item notification={notification} close={close} />
          </li>
        ))}
      </ul>
      <LoadMore list={list} />
    </>
  )
}

function Item({ notification, close }: { notification: Notification; close: () => void }): ReactNode {
  const navigate = useNavigate()
  const queries = useQueryClient()
  const { id, title, body, read_at, created_at, resource_type, resource_id } = notification
  const open = async () => {
    close()
    if (read_at == null)
      answerOf(api.POST('/v1/users/me/notifications/{id}/read', { params: { path: { id } } }))
        .then(() => Promise.all(['notification', 'me'].map((kind) => queries.invalidateQueries({ queryKey: [kind] }))))
        // It stays unread.
        .catch(() => undefined)
    if (resource_id == null) return
    if (resource_type === 'access_request') await navigate({ to: '/requests/$id', params: { id: resource_id } })
    if (resource_type === 'access_grant') await navigate({ to: '/grants/$id', params: { id: resource_id } })
  }
  return (
    <button
      type="button"
      onClick={() => open()}
      className="grid w-full gap-0.5 rounded-control px-2 py-2 text-left hover:bg-sunken"
    >
      <span className={`wrap-anywhere ${read_at == null ? 'font-semibold' : 'font-medium'}`}>{title}</span>
      <span className="text-text-2 wrap-anywhere">{body}</span>
      <span className="text-meta text-text-2">
        <Moment at={created_at} />
      </span>
    </button>
  )
}
