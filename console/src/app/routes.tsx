import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router'
import { readChoice } from '../access/choice.ts'
import { readView } from '../aws/view.ts'
import { readView as readDirectoryView } from '../directories/view.ts'
import { Frame } from '../frame/frame.tsx'
import { Broken, NotFound } from '../frame/not-found.tsx'
import { loadPart } from '../live/load-part.ts'
import { basePath } from '../rehearsal/stand-in.ts'

const root = createRootRoute({ component: Frame, notFoundComponent: NotFound, errorComponent: Broken })

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  validateSearch: readChoice,
  component: lazyRouteComponent(() => loadPart(() => import('../access/home.tsx')), 'Home'),
})

const request = createRoute({
  getParentRoute: () => root,
  path: '/requests/$id',
  component: lazyRouteComponent(() => loadPart(() => import('../requests/request-page.tsx')), 'RequestPage'),
})

const grant = createRoute({
  getParentRoute: () => root,
  path: '/grants/$id',
  component: lazyRouteComponent(() => loadPart(() => import('../access/grant-page.tsx')), 'GrantPage'),
})

const loadInbox = lazyRouteComponent(() => loadPart(() => import('../inbox/inbox.tsx')), 'Inbox')
const inbox = createRoute({ getParentRoute: () => root, path: '/inbox', component: loadInbox })
const inboxItem = createRoute({ getParentRoute: () => root, path: '/inbox/$id', component: loadInbox })

const me = createRoute({
  getParentRoute: () => root,
  path: '/me',
  component: lazyRouteComponent(() => loadPart(() => import('../me/me-page.tsx')), 'MePage'),
})

const start = createRoute({
  getParentRoute: () => root,
  path: '/start',
  component: lazyRouteComponent(() => loadPart(() => import('../start/start-page.tsx')), 'StartPage'),
})

const aws = createRoute({
  getParentRoute: () => root,
  path: '/aws',
  validateSearch: readView,
  component: lazyRouteComponent(() => loadPart(() => import('../aws/aws-page.tsx')), 'AwsPage'),
})

const directories = createRoute({
  getParentRoute: () => root,
  path: '/directories',
  component: lazyRouteComponent(() => loadPart(() => import('../directories/directories-page.tsx')), 'DirectoriesPage'),
})

const newDirectory = createRoute({
  getParentRoute: () => root,
  path: '/directories/new',
  component: lazyRouteComponent(() => loadPart(() => import('../directories/connect-page.tsx')), 'ConnectPage'),
})

const directory = createRoute({
  getParentRoute: () => root,
  path: '/directories/$id',
  validateSearch: readDirectoryView,
  component: lazyRouteComponent(() => loadPart(() => import('../directories/directory-page.tsx')), 'DirectoryPage'),
})

/** Addresses that people read: `?type=cloud_account&id=123456789012`. */
const plainSearch = {
  parseSearch: (text: string) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch(search: Record<string, unknown>) {
    const pairs = Object.entries(search).filter(([, value]) => value !== undefined)
    const text = new URLSearchParams(pairs.map(([name, value]) => [name, String(value)])).toString()
    return text === '' ? '' : `?${text}`
  },
}

export const router = createRouter({
  ...plainSearch,
  routeTree: root.addChildren([
    ...[home, request, grant, inbox, inboxItem, me, start, aws],
    ...[directories, newDirectory, directory],
  ]),
  basepath: basePath,
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
