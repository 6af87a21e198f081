// Made from the server's OpenAPI document by `node infra/client/write-client-types.ts`: change the routes, not this file.
export interface paths {
  '/healthz': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** Does the process live? */
    get: operations['health']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/readyz': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Can it serve?
     * @description Asks database and object store. A balancer sends requests only where this answers 200.
     */
    get: operations['readiness']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/accounts': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /** Sign up */
    post: operations['postAccounts']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/account': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** Who am I */
    get: operations['getAccount']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/account/password': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    /**
     * Change the password
     * @description Ends every session of the account; the answer sets the cookie of a new one.
     */
    put: operations['putAccountPassword']
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/account/verification-mail': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /** Send the mail that confirms the address again */
    post: operations['postAccountVerificationMail']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/sessions': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** Browsers that you are logged in with */
    get: operations['listSessions']
    put?: never
    /**
     * Log in by password
     * @description Sets the cookie of a new session. An unknown user and a wrong password get the same answer.
     */
    post: operations['postSessions']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/sessions/current': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    post?: never
    /** Log out */
    delete: operations['deleteSessionsCurrent']
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/sessions/{id}': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    post?: never
    /** End a session */
    delete: operations['endSession']
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/tokens': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** List tokens */
    get: operations['getTokens']
    put?: never
    /**
     * Make a token
     * @description The only time that the token is shown. A token can make others, but none that may do more than itself.
     */
    post: operations['postTokens']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/tokens/{id}': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    post?: never
    /** Revoke a token */
    delete: operations['deleteTokensById']
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/organisations': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Make an organisation
     * @description Whoever makes it is its owner. Users and organisations share one space of names.
     */
    post: operations['postOrganisations']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/organisations/{organisation}': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Show an organisation
     * @description Members see the list of members.
     */
    get: operations['getOrganisationsByOrganisation']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/organisations/{organisation}/members/{username}': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    /**
     * Add a member, or change a role
     * @description Takes an admin; giving or taking the role of owner takes an owner.
     */
    put: operations['putOrganisationsByOrganisationMembersByUsername']
    post?: never
    /** Remove a member, or leave */
    delete: operations['deleteOrganisationsByOrganisationMembersByUsername']
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/email-verifications': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Confirm an e-mail address
     * @description With what the mailed link holds as `token`.
     */
    post: operations['postEmailVerifications']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/password-resets': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Ask for a new password by mail
     * @description The answer is the same whether an account has the address or not.
     */
    post: operations['postPasswordResets']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/password-resets/{token}': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    /**
     * Set a new password
     * @description With what the mailed link holds as `token`. Ends every session of the account.
     */
    put: operations['putPasswordResetsByToken']
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/device-codes': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Start a log-in that is approved in a browser
     * @description RFC 8628 in JSON: show `user_code` and `verification_uri`, then ask for the token every `interval` s.
     */
    post: operations['postDeviceCodes']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/device-codes/token': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /** Ask whether the log-in was approved */
    post: operations['postDeviceCodesToken']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/oauth/{provider}': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Log in through GitHub or Google
     * @description For browsers. `return_to` is a path of this site to come back to.
     */
    get: operations['getOauthByProvider']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/oauth/{provider}/callback': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** Where the provider sends the browser back to */
    get: operations['getOauthByProviderCallback']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/audit': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * The audit log, for operators
     * @description Who did what, newest first. Entries are never changed or deleted.
     */
    get: operations['listAudit']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/packages': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Search and browse packages
     * @description Public packages, and the private ones of your accounts. Facets count what each value would give, with the other filters as they are.
     */
    get: operations['searchPackages']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/packages/{scope}/{name}': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** A package: everything its page shows */
    get: operations['getPackage']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/packages/{scope}/{name}/view': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * A package with its offer and its latest version, in one answer
     * @description What `GET /v1/packages/{scope}/{name}`, its offer, the version that it names as latest and its sample episode say.
     */
    get: operations['getPackageView']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/packages/{scope}/{name}/versions/{version}/readme': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * A version's own README
     * @description As Markdown and as HTML that is safe to show; addresses of the pictures in it are below the server's. `Accept: text/html` gives a page of it alone.
     */
    get: operations['getReadme']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/packages/{scope}/{name}/versions/{version}/readme/pictures/{hash}': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * A picture that the README of a version shows
     * @description The addresses are those in the README's HTML. PNG, JPEG, GIF and WebP of the tarball, by their own bytes; no other file of the package is given here.
     */
    get: operations['getReadmePicture']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/packages/{scope}/{name}/changes': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * What the versions of a package say has changed in them
     * @description Of each the section of its own tarball's CHANGELOG.md below the heading that names the version.
     */
    get: operations['getChanges']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/packages/{scope}/{name}/versions/{version}/sample-episode': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * A short episode of a version, for pictures
     * @description Of a scenario one of random actions, of an agent its first of evaluation. What is in it comes out of the scenario's code.
     */
    get: operations['getSampleEpisode']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/accounts/{username}': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * A user or an organisation, with its packages
     * @description The private ones are for members.
     */
    get: operations['getPublisher']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/packages/{scope}/{name}/dependents': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** What needs a package: agents trained on it, packages that depend on it */
    get: operations['getDependents']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/packages/{scope}/{name}/versions/{version}': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** One version: state, checks, manifest, README */
    get: operations['getPackagesByScopeByNameVersionsByVersion']
    /**
     * Publish a version
     * @description The body is the tarball, as `npm pack` makes it. The version is `checking` then; `GET` it to see what becomes of it. Repeating an upload with the same bytes gives the same answer.
     */
    put: operations['putPackagesByScopeByNameVersionsByVersion']
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/packages/{scope}/{name}/versions': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** Versions and tags of a package */
    get: operations['getPackagesByScopeByNameVersions']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/packages/{scope}/{name}/resolve': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * The version that a range, a tag or an exact version means
     * @description Chooses as npm does. A range never gives a yanked version.
     */
    get: operations['getPackagesByScopeByNameResolve']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/packages/{scope}/{name}/tags': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** Tags of a package */
    get: operations['getPackagesByScopeByNameTags']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/packages/{scope}/{name}/tags/{tag}': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    /**
     * Point a tag at a version
     * @description Asked for by name, `latest` goes anywhere: back, and to a prerelease.
     */
    put: operations['putPackagesByScopeByNameTagsByTag']
    post?: never
    /** Remove a tag */
    delete: operations['deletePackagesByScopeByNameTagsByTag']
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/packages/{scope}/{name}/versions/{version}/deprecation': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    /** Deprecate a version, or take that back */
    put: operations['putPackagesByScopeByNameVersionsByVersionDeprecation']
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/packages/{scope}/{name}/versions/{version}/yank': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    /**
     * Yank a version
     * @description Hides it from ranges and tags; who names it exactly still gets it.
     */
    put: operations['putPackagesByScopeByNameVersionsByVersionYank']
    post?: never
    /** Take a yank back */
    delete: operations['deletePackagesByScopeByNameVersionsByVersionYank']
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/jobs/lease': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Lease a job
     * @description For workers: a token with the scope `worker`. The lease holds until `expires_at`; each heartbeat prolongs it. A worker that goes silent loses the job to the next one.
     */
    post: operations['postJobsLease']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/jobs/{id}/heartbeat': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /** Keep a lease */
    post: operations['postJobsByIdHeartbeat']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/jobs/{id}/release': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Give a job back
     * @description The next worker has it at once, and the attempt is not counted. For workers that are told to stop.
     */
    post: operations['postJobsByIdRelease']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/jobs/{id}/result': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /** Give the result of a check */
    post: operations['postJobsByIdResult']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/jobs/{id}/tarball': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * The tarball that a check is about
     * @description The lease in the query is the permission: it is good for this tarball and as long as the lease holds.
     */
    get: operations['getJobsByIdTarball']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/runs': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Runs of your accounts
     * @description Newest first. Needs the scope `training:view`.
     */
    get: operations['listRuns']
    put?: never
    /**
     * Start a run of training
     * @description Queues it for the next free worker. The scenario is a published version that you may read; settings are checked here, as `agentgym train` checks them. Needs the scope `training:start`.
     */
    post: operations['startRun']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/runs/{id}': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** A run: state, progress, cost, agent */
    get: operations['getRun']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/runs/{id}/cancel': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Cancel a run
     * @description One that is queued ends at once; a worker that has it saves a checkpoint first. Asking again changes nothing. Needs the scope `training:cancel`.
     */
    post: operations['cancelRun']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/runs/{id}/resume': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Go on with a run that used up its budget
     * @description From its last checkpoint, with a higher budget. Needs the scope `training:start`.
     */
    post: operations['resumeRun']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/runs/{id}/evaluations': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Evaluate a run's agent
     * @description With episodes and seed of your choice, by a worker. Needs the scope `training:evaluate`.
     */
    post: operations['evaluateRun']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/runs/{id}/publish': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Publish a run's agent
     * @description As an upload of its tarball under that name and version would. Repeating the request gives the same answer. Needs the scopes `training:view` and `packages:publish`.
     */
    post: operations['publishRun']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/evaluations/{id}': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** What became of an evaluation */
    get: operations['getEvaluation']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/status': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Queue, workers and GPUs
     * @description Needs the scope `training:view`.
     */
    get: operations['getStatus']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/runs/{id}/events': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Events of a run, as they happen
     * @description Server-sent events: `id` is the event’s `seq`, `event` its type, `data` the whole event as JSON. All of the run’s events from the first on, or those after `Last-Event-ID` (or `after`). The stream ends after the run’s last event; asked for what comes after that, the answer is 204, at which an EventSource stops. It also ends when the server does or your permission does: connect again with the id of the last event, and nothing is lost or double.
     */
    get: operations['watchRun']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/runs/{id}/metrics': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** The learning curve, one point an iteration */
    get: operations['getMetrics']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/runs/{id}/metrics.csv': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** The learning curve as CSV */
    get: operations['getMetricsAsCsv']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/runs/{id}/metrics.tfevents': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** The learning curve as TensorBoard's event file */
    get: operations['getMetricsForTensorBoard']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/runs/{id}/checkpoints': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** Checkpoints that are kept */
    get: operations['listCheckpoints']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/runs/{id}/checkpoints/{iteration}': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** A checkpoint */
    get: operations['getCheckpoint']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/runs/{id}/agent': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** The trained agent, a package */
    get: operations['getAgent']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/runs/{id}/trajectories': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Sampled trajectories
     * @description One JSON object a line, in the order of iterations. Needs the scope `data:export`.
     */
    get: operations['exportTrajectories']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/rpc': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Training by JSON-RPC 2.0
     * @description One request, or a batch of up to 50. Methods: `training.start_grpo`, `training.start`, `training.get_status`, `training.cancel`, `training.evaluate`, `training.export_trajectories`, which do what the routes of runs do and need the same scopes. Params are given by name. Errors carry the API’s own in `data`; their code is -32602 for `request_invalid` and `config_invalid`, else -32000 less the status above 400: -32001 for 401, -32003 for 403, -32004 for 404, -32009 for 409, -32022 for 422, -32029 for 429; -32053 for 503.
     */
    post: operations['callRpc']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/jobs/{id}/progress': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Report iterations of a run
     * @description Every iteration, in order. One that the run has already counts once.
     */
    post: operations['postJobsByIdProgress']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/jobs/{id}/checkpoint': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** The checkpoint that a run goes on from */
    get: operations['getJobsByIdCheckpoint']
    /**
     * Store a checkpoint of a run
     * @description The run goes on from its last one, whoever has it then. All iterations up to it have to be reported before.
     */
    put: operations['putJobsByIdCheckpoint']
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/jobs/{id}/trajectories': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /** Store sampled trajectories of a run */
    post: operations['postJobsByIdTrajectories']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/jobs/{id}/agent': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    /**
     * Store a run's agent
     * @description The package, as `npm pack` makes it. The outcome names what this answers.
     */
    put: operations['putJobsByIdAgent']
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/jobs/{id}/outcome': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * End a run
     * @description Once. The worker that has ended it may ask again and gets the same answer.
     */
    post: operations['postJobsByIdOutcome']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/jobs/{id}/scenario': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * The scenario that a run trains on
     * @description The lease in the query is the permission: it is good for this tarball and as long as the lease holds.
     */
    get: operations['getJobsByIdScenario']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/jobs/{id}/evaluation': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /** Give the result of an evaluation */
    post: operations['postJobsByIdEvaluation']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/jobs/{id}/evaluation/{what}': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * The tarball of an evaluation's agent or scenario
     * @description The lease in the query is the permission: it is good for these tarballs and as long as the lease holds.
     */
    get: operations['getJobsByIdEvaluationByWhat']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/keys': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Public keys of signed statements
     * @description Ed25519. A statement is checked with the key that it names, and OpenSSL alone: `openssl pkeyutl -verify -pubin -inkey key.pem -rawin -in statement.json -sigfile signature.bin`.
     */
    get: operations['getKeys']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/packages/{scope}/{name}/versions/{version}/leaderboard': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** Verified agents of a scenario version, best first */
    get: operations['getPackagesByScopeByNameVersionsByVersionLeaderboard']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/packages/{scope}/{name}/versions/{version}/verification': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Have the marketplace run an agent again
     * @description For its members, those who bought it, and operators. What comes of it becomes the verification of the version; where it does not hold what it claims, buyers get their money back. While a run is under way, that one is given.
     */
    post: operations['postPackagesByScopeByNameVersionsByVersionVerification']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/packages/{scope}/{name}/reviews': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Reviews and rating of a package
     * @description Newest first. The rating counts one vote a person: the newest of those who still have what they bought.
     */
    get: operations['getPackagesByScopeByNameReviews']
    /**
     * Review a version, or change your review of it
     * @description For those who bought it, alone or through an organisation; where it is free, who downloaded it or trained on it.
     */
    put: operations['putPackagesByScopeByNameReviews']
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/reviews/{id}': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    post?: never
    /** Withdraw your review */
    delete: operations['deleteReviewsById']
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/reviews/{id}/reply': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    /** Answer a review as the seller */
    put: operations['putReviewsByIdReply']
    post?: never
    /** Take the answer to a review back */
    delete: operations['deleteReviewsByIdReply']
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/reports': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Reports and appeals, for operators
     * @description Oldest first.
     */
    get: operations['getReports']
    put?: never
    /** Report a package or a review to the operators */
    post: operations['postReports']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/reports/{id}/decision': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Decide a report, as an operator
     * @description Upheld, the review is hidden or the package taken down: for everybody, with refunds, where it is malicious. Of an appeal, the package is put back.
     */
    post: operations['postReportsByIdDecision']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/packages/{scope}/{name}/take-down': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Take a package down, as an operator
     * @description Nobody finds, buys or installs it any more; those who bought it keep it, unless `for_all`.
     */
    post: operations['postPackagesByScopeByNameTakeDown']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/packages/{scope}/{name}/restore': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /** Put a package back, as an operator */
    post: operations['postPackagesByScopeByNameRestore']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/packages/{scope}/{name}/appeals': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /** Ask that your package be put back */
    post: operations['postPackagesByScopeByNameAppeals']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/packages/{scope}/{name}/moderation': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * What operators have done to a package
     * @description For its members, and for operators.
     */
    get: operations['getPackagesByScopeByNameModeration']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/usage-events': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Tell hosted calls of agents
     * @description For whoever serves them, with a token of the scope `worker`. An event counts once, however often it is told; all of a request is counted, or nothing.
     */
    post: operations['postUsageEvents']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/call-allowance': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Ask whether an account may call an agent
     * @description For whoever serves it, with a token of the scope `worker`.
     */
    post: operations['postCallAllowance']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/packages/{scope}/{name}/calls': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Call an agent that the marketplace runs
     * @description Gives what the agent does upon an observation. For whoever owns it, has bought it, may try it, or where it is free; needs the scope `agents:call`. A worker runs the model; the answer comes within 30 s, or it is `agent_unavailable`. A call that fails costs nothing and takes nothing from a trial.
     */
    post: operations['callAgent']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/hosted-calls/lease': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Lease calls of an agent
     * @description For workers: a token with the scope `worker`. Waits until calls come, for `wait_ms` at most; gives up to 64 of one version. The lease holds until `expires_at`; then another worker may have them.
     */
    post: operations['postHostedCallsLease']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/hosted-calls/answers': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Answer leased calls
     * @description All or some of them. What is answered is counted; what has failed is not. Calls that the lease no longer holds are `late`: nothing of them changes.
     */
    post: operations['postHostedCallsAnswers']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/hosted-calls/tarballs/{id}': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * The tarball of an agent whose calls are leased
     * @description The lease in the query is the permission: it is good for this version and as long as the lease holds.
     */
    get: operations['getHostedCallsTarballsById']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/chat/completions': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Call an agent in the manner of OpenAI's API
     * @description For OpenAI's clients, with this server's `/v1` as their base URL and a token with the scope `agents:call` as their key. `model` is the agent; the last message of the user (or of a tool) is the observation, as JSON or, where it is none, as the text itself. The answer is `{"action", "label"}` as JSON; a tool call where the action names one of `tools`. With `stream` it comes as server-sent events. A policy has no tokens: `usage` counts four characters as one. Failures have OpenAI's form. Calls are admitted and counted as those of `/v1/packages/{scope}/{name}/calls`.
     */
    post: operations['createChatCompletion']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/models': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Agents that you may call
     * @description Those that you or your organisations own or have bought, by name, a hundred at most. In OpenAI’s form.
     */
    get: operations['listModels']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/packages/{scope}/{name}/price': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** What a package costs, will cost and has cost */
    get: operations['getPrice']
    /**
     * Set what a package costs
     * @description What costs nobody more holds at once. A raise (or a price for what was free, higher royalties, dearer calls) is announced and holds after the server’s notice period, unless nobody has ordered, downloaded or trained on the package yet. Orders that are placed stay as they are. Needs the scope `market:sell`.
     */
    put: operations['setPrice']
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/packages/{scope}/{name}/offer': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * What one would buy, pay and get
     * @description Everything to be seen before an order: total, licence, terms, an agent’s verification. An order names its price.
     */
    get: operations['getOffer']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/orders': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Your purchases, or your sales
     * @description Newest first. Needs the scope `market:buy` or `market:sell`.
     */
    get: operations['listOrders']
    put?: never
    /**
     * Buy a package
     * @description Pays from the balance at once, or by the payment provider at the address that the order names. What you have already is answered with its order, and nothing is charged. Needs the scope `market:buy`; for an organisation the role of member.
     */
    post: operations['placeOrder']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/orders/{id}': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * An order
     * @description For those who buy for its buyer, sell for its seller, or operate the server.
     */
    get: operations['getOrder']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/orders/{id}/cancel': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Cancel an order that awaits payment
     * @description What is paid for it later goes onto the balance. Asking again changes nothing.
     */
    post: operations['cancelOrder']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/orders/{id}/refunds': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Give an order’s price back
     * @description Onto the balance of its buyer. Sellers and operators may give any part of it at any time (scope `market:sell`); buyers take all of it back within 14 days, while it is not used (`market:buy`). With the last of it the licence ends.
     */
    post: operations['refundOrder']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/entitlements': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * What you have bought the right to
     * @description Yours and those of your organisations. Needs the scope `market:buy` or `market:sell`.
     */
    get: operations['listEntitlements']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/balance': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * What an account can spend
     * @description For every member of the account. Takes the scope market:buy or market:sell.
     */
    get: operations['getBalance']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/top-ups': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Put money on a balance
     * @description Answers with the payment. Where it has a `checkout_url`, somebody pays there; the money is on the balance once the provider confirms it. For members of the account. Takes the scope market:buy.
     */
    post: operations['topUp']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/payments': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Payments for an account
     * @description Top-ups, and orders that were paid at the provider. Takes the scope market:buy or market:sell.
     */
    get: operations['listPayments']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/payments/{id}': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** Show a payment */
    get: operations['getPayment']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/payout-destination': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Where earnings are paid out to
     * @description For admins of the account. Takes the scope market:sell.
     */
    get: operations['getPayoutDestination']
    /**
     * Open where earnings are paid out to
     * @description Makes the account at the payment provider where there is none, and gives the address of the provider’s form while that is not complete. For admins of the account. Takes the scope market:sell.
     */
    put: operations['openPayoutDestination']
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/payouts': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Payouts of an account
     * @description For admins of the account. Takes the scope market:sell.
     */
    get: operations['listPayouts']
    put?: never
    /**
     * Pay out earnings that have cleared
     * @description The payout is `paid` once the provider says so; one that failed leaves the earnings as they were. For admins of the account. Takes the scope market:sell.
     */
    post: operations['requestPayout']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/webhooks/stripe': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Events of Stripe
     * @description Stripe calls this, and signs what it sends (`stripe-signature`). Each event counts once; what is none of ours is answered likewise. Events to send: `checkout.session.*`, `charge.dispute.*`, `charge.refunded`, `transfer.reversed`, `account.updated` (of connected accounts).
     */
    post: operations['takeStripeEvent']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/earnings': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * What an account has earned
     * @description Sales, fees, royalties, refunds and payouts in all, and what can be paid out now. For admins of the account. Takes the scope market:sell.
     */
    get: operations['getEarnings']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/earnings/entries': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * What came in and went out
     * @description Each sale, royalty, refund, chargeback, batch of calls and payout. Takes the scope market:sell.
     */
    get: operations['listEarnings']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/earnings/days': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * What an account earned day by day
     * @description Days of UTC, oldest first, also those without a sale. Takes the scope market:sell.
     */
    get: operations['getEarningsByDay']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/earnings.csv': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * What came in and went out, as CSV
     * @description All entries, newest first, amounts in the currency’s units. Takes the scope market:sell.
     */
    get: operations['getEarningsAsCsv']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/spend-caps': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Spend caps of an account and its tokens
     * @description With what is spent of each. Needs the scope `market:buy`.
     */
    get: operations['listSpendCaps']
    /**
     * Limit what an account or a token may spend
     * @description A day and a month are those of UTC. Refunds are not counted back. Needs the scope `account:manage`, for an organisation the role of admin, and a token that has no cap itself.
     */
    put: operations['setSpendCap']
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/spend-caps/{id}': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    post?: never
    /** Remove a spend cap */
    delete: operations['removeSpendCap']
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
}
export type webhooks = Record<string, never>
export interface components {
  schemas: {
    Health: {
      ok: boolean
    }
    Readiness: {
      ok: boolean
      database: boolean
      objects: boolean
      draining: boolean
    }
    Account: {
      username: string
      /** @enum {string} */
      kind: 'user' | 'organisation'
      email: string | null
      email_verified: boolean
      operator: boolean
    }
    Error: {
      error: {
        /** @enum {string} */
        code:
          | 'config_invalid'
          | 'usage_invalid'
          | 'file_not_found'
          | 'manifest_invalid'
          | 'agent_invalid'
          | 'scenario_mismatch'
          | 'checkpoint_invalid'
          | 'execution_provider_unavailable'
          | 'setup_incomplete'
          | 'database_in_use'
          | 'database_unavailable'
          | 'database_incompatible'
          | 'database_damaged'
          | 'storage_unavailable'
          | 'request_invalid'
          | 'request_too_large'
          | 'endpoint_not_found'
          | 'scenario_invalid'
          | 'scenario_build_failed'
          | 'scenario_timeout'
          | 'scenario_out_of_memory'
          | 'scenario_crashed'
          | 'scenario_threw'
          | 'scenario_nondeterministic'
          | 'reward_not_finite'
          | 'observation_invalid'
          | 'metrics_invalid'
          | 'mask_invalid'
          | 'no_legal_action'
          | 'model_load_failed'
          | 'model_run_failed'
          | 'model_output_invalid'
          | 'model_timeout'
          | 'model_out_of_memory'
          | 'model_crashed'
          | 'training_diverged'
          | 'training_failed'
          | 'training_cancelled'
          | 'run_not_found'
          | 'run_state_conflict'
          | 'run_has_no_agent'
          | 'checkpoint_not_found'
          | 'evaluation_not_found'
          | 'budget_exceeded'
          | 'worker_failed'
          | 'verification_mismatch'
          | 'signature_invalid'
          | 'verification_missing'
          | 'idempotency_key_reused'
          | 'lease_lost'
          | 'integrity_mismatch'
          | 'server_unreachable'
          | 'request_timeout'
          | 'unauthenticated'
          | 'credentials_invalid'
          | 'forbidden'
          | 'account_not_found'
          | 'package_not_found'
          | 'token_not_found'
          | 'name_invalid'
          | 'name_taken'
          | 'email_taken'
          | 'last_owner'
          | 'link_invalid'
          | 'rate_limited'
          | 'authorization_pending'
          | 'slow_down'
          | 'access_denied'
          | 'expired_token'
          | 'oauth_not_configured'
          | 'oauth_failed'
          | 'tarball_too_large'
          | 'tarball_not_gzip'
          | 'tarball_truncated'
          | 'tarball_corrupt'
          | 'tarball_trailing_data'
          | 'tarball_unpacked_too_large'
          | 'tarball_ratio_too_high'
          | 'tarball_too_many_files'
          | 'tarball_entry_unsupported'
          | 'tarball_link'
          | 'tarball_special_file'
          | 'tarball_path_too_long'
          | 'tarball_path_encoding'
          | 'tarball_path_nul'
          | 'tarball_path_backslash'
          | 'tarball_path_absolute'
          | 'tarball_path_traversal'
          | 'tarball_path_outside_package'
          | 'tarball_path_not_portable'
          | 'tarball_path_duplicate'
          | 'tarball_path_collision'
          | 'package_manifest_missing'
          | 'package_manifest_too_large'
          | 'package_manifest_not_json'
          | 'package_manifest_duplicate_key'
          | 'package_manifest_forbidden_key'
          | 'package_manifest_mismatch'
          | 'package_name_mismatch'
          | 'package_version_mismatch'
          | 'package_kind_changed'
          | 'package_license_missing'
          | 'package_readme_missing'
          | 'package_readme_invalid'
          | 'package_install_script'
          | 'package_executable'
          | 'package_native_code'
          | 'package_dependency_forbidden'
          | 'package_dependencies_bundled'
          | 'package_marked_private'
          | 'package_bundle_missing'
          | 'model_too_large'
          | 'model_truncated'
          | 'model_malformed'
          | 'model_field_unknown'
          | 'model_field_duplicate'
          | 'model_part_forbidden'
          | 'model_external_data'
          | 'model_subgraph_forbidden'
          | 'model_function_forbidden'
          | 'model_domain_forbidden'
          | 'model_opset_unsupported'
          | 'model_operator_forbidden'
          | 'model_attribute_invalid'
          | 'model_too_many_parts'
          | 'model_nesting_too_deep'
          | 'model_string_too_long'
          | 'model_name_invalid'
          | 'model_name_duplicate'
          | 'model_name_undefined'
          | 'model_type_unsupported'
          | 'model_shape_invalid'
          | 'model_shape_mismatch'
          | 'model_batch_mixed'
          | 'model_tensor_size_mismatch'
          | 'model_weights_not_finite'
          | 'model_static_size'
          | 'model_intermediate_too_large'
          | 'model_work_too_large'
          | 'model_input_mismatch'
          | 'model_output_mismatch'
          | 'version_invalid'
          | 'tag_invalid'
          | 'version_exists'
          | 'version_not_found'
          | 'version_not_published'
          | 'document_outdated'
          | 'version_immutable'
          | 'version_yanked'
          | 'sample_episode_not_found'
          | 'picture_not_found'
          | 'tag_not_found'
          | 'tag_protected'
          | 'package_visibility_fixed'
          | 'price_changed'
          | 'not_for_sale'
          | 'self_purchase'
          | 'insufficient_funds'
          | 'spend_cap_exceeded'
          | 'spend_cap_not_found'
          | 'order_not_found'
          | 'order_state_conflict'
          | 'refund_exceeds'
          | 'refund_refused'
          | 'payment_declined'
          | 'payment_not_found'
          | 'payment_provider_unavailable'
          | 'webhook_signature_invalid'
          | 'payout_not_ready'
          | 'payout_below_cleared'
          | 'money_needs_postgresql'
          | 'review_not_allowed'
          | 'review_not_found'
          | 'report_not_found'
          | 'moderation_state_conflict'
          | 'trial_exhausted'
          | 'agent_unavailable'
          | 'agent_failed'
          | 'package_taken_down'
          | 'payment_required'
          | 'hosted_only'
          | 'object_damaged'
          | 'internal_error'
        message: string
        hint?: string
        data?: {
          [key: string]: unknown
        }
      }
    }
    OwnAccount: {
      username: string
      /** @enum {string} */
      kind: 'user' | 'organisation'
      email: string | null
      email_verified: boolean
      operator: boolean
      organisations: {
        username: string
        /** @enum {string} */
        role: 'owner' | 'admin' | 'member' | 'viewer'
      }[]
      scopes: (
        | 'packages:read'
        | 'packages:publish'
        | 'packages:manage'
        | 'account:manage'
        | 'training:start'
        | 'training:view'
        | 'training:cancel'
        | 'training:evaluate'
        | 'data:export'
        | 'agents:call'
        | 'market:buy'
        | 'market:sell'
        | 'worker'
      )[]
    }
    Session: {
      username: string
    }
    CreatedToken: {
      /** Format: uuid */
      id: string
      name: string
      prefix: string
      scopes: (
        | 'packages:read'
        | 'packages:publish'
        | 'packages:manage'
        | 'account:manage'
        | 'training:start'
        | 'training:view'
        | 'training:cancel'
        | 'training:evaluate'
        | 'data:export'
        | 'agents:call'
        | 'market:buy'
        | 'market:sell'
        | 'worker'
      )[]
      /** Format: date-time */
      expires_at: string | null
      /** Format: date-time */
      last_used_at: string | null
      /** Format: date-time */
      created_at: string
      token: string
    }
    Token: {
      /** Format: uuid */
      id: string
      name: string
      prefix: string
      scopes: (
        | 'packages:read'
        | 'packages:publish'
        | 'packages:manage'
        | 'account:manage'
        | 'training:start'
        | 'training:view'
        | 'training:cancel'
        | 'training:evaluate'
        | 'data:export'
        | 'agents:call'
        | 'market:buy'
        | 'market:sell'
        | 'worker'
      )[]
      /** Format: date-time */
      expires_at: string | null
      /** Format: date-time */
      last_used_at: string | null
      /** Format: date-time */
      created_at: string
    }
    Organisation: {
      username: string
      /** @enum {string} */
      kind: 'organisation'
      display_name: string | null
      /** Format: date-time */
      created_at: string
      members?: {
        username: string
        /** @enum {string} */
        role: 'owner' | 'admin' | 'member' | 'viewer'
      }[]
    }
    Member: {
      username: string
      /** @enum {string} */
      role: 'owner' | 'admin' | 'member' | 'viewer'
    }
    DeviceCode: {
      device_code: string
      user_code: string
      /** Format: uri */
      verification_uri: string
      /** Format: uri */
      verification_uri_complete: string
      interval: number
      expires_in: number
    }
    DeviceToken: {
      /** Format: uuid */
      id: string
      name: string
      prefix: string
      scopes: (
        | 'packages:read'
        | 'packages:publish'
        | 'packages:manage'
        | 'account:manage'
        | 'training:start'
        | 'training:view'
        | 'training:cancel'
        | 'training:evaluate'
        | 'data:export'
        | 'agents:call'
        | 'market:buy'
        | 'market:sell'
        | 'worker'
      )[]
      /** Format: date-time */
      expires_at: string | null
      /** Format: date-time */
      last_used_at: string | null
      /** Format: date-time */
      created_at: string
      token: string
      username: string
    }
    AuditList: {
      entries: {
        id: number
        /** Format: date-time */
        at: string
        actor: string | null
        token_id: string | null
        action: string
        subject: string
        ip: string | null
        data: {
          [key: string]: unknown
        }
      }[]
      next_before: number | null
    }
    PackageList: {
      packages: components['schemas']['ListedPackage'][]
      total: number
      facets: components['schemas']['Facets']
      next_cursor: string | null
    }
    ListedPackage: {
      name: string
      /** @enum {string} */
      kind: 'scenario' | 'agent'
      /** @enum {string} */
      visibility: 'public' | 'private'
      price_minor: number
      /** @enum {string} */
      price_kind: 'free' | 'one_time' | 'per_run'
      currency: string
      rating: number | null
      votes: number
      title: string | null
      summary: string | null
      category: string | null
      difficulty: string | null
      algorithm: string | null
      keywords: string[]
      latest_version: string | null
      downloads: number
      /** Format: date-time */
      created_at: string
      /** Format: date-time */
      updated_at: string
      quality: number
      best_return: components['schemas']['BestReturn'] | null
    }
    BestReturn: {
      agent: string
      return_mean: number
      curve: {
        steps: number
        return_mean: number
      }[]
    }
    Facets: {
      kind: {
        value: string
        count: number
      }[]
      category: {
        value: string
        count: number
      }[]
      difficulty: {
        value: string
        count: number
      }[]
      algorithm: {
        value: string
        count: number
      }[]
      price: {
        value: string
        count: number
      }[]
    }
    PackagePage: {
      name: string
      /** @enum {string} */
      kind: 'scenario' | 'agent'
      /** @enum {string} */
      visibility: 'public' | 'private'
      price_minor: number
      /** @enum {string} */
      price_kind: 'free' | 'one_time' | 'per_run'
      currency: string
      rating: number | null
      votes: number
      title: string | null
      summary: string | null
      category: string | null
      difficulty: string | null
      algorithm: string | null
      keywords: string[]
      latest_version: string | null
      downloads: number
      /** Format: date-time */
      created_at: string
      /** Format: date-time */
      updated_at: string
      owner: {
        username: string
        /** @enum {string} */
        kind: 'user' | 'organisation'
        display_name: string | null
      }
      taken_down: {
        /** Format: date-time */
        at: string
        reason: string | null
      } | null
      latest: {
        version: string
        /** Format: date-time */
        published_at: string
        license: string | null
        homepage: string | null
        repository: string | null
        published_by: string
        integrity: string
        tarball: string
        size: number
        unpacked_size: number
        file_count: number
        bundle_hash: string | null
        downloads: number
        deprecated: string | null
        yanked: boolean
        checks: {
          id: string
          ok: boolean
          message: string
        }[]
        agentgym: {
          [key: string]: unknown
        }
      } | null
      readme: components['schemas']['Readme'] | null
      quality: components['schemas']['Quality']
      tags: {
        [key: string]: string
      }
      versions_count: number
      versions: {
        version: string
        /** Format: date-time */
        published_at: string
        downloads: number
        deprecated: string | null
        yanked: boolean
      }[]
    }
    Readme: {
      markdown: string
      html: string
    }
    Quality: {
      score: number
      parts: {
        /** @enum {string} */
        id: 'docs' | 'checks' | 'determinism' | 'baselines' | 'speed' | 'maintenance'
        points: number
        of: number
        why: string
      }[]
    }
    PackageView: {
      page: components['schemas']['PackagePage']
      offer: components['schemas']['Offer'] | null
      latest: {
        details: components['schemas']['VersionDetails']
        episode: components['schemas']['SampleEpisode'] | null
      } | null
    }
    Offer: {
      package: string
      /** @enum {string} */
      kind: 'scenario' | 'agent'
      title: string | null
      seller: string
      version: string
      covers: string
      price: components['schemas']['Price']
      upcoming: components['schemas']['Price'] | null
      total_minor: number
      license: string | null
      terms: string
      trial_calls: number
      calls_price_minor: number
      entitled: boolean
      balance_minor: number | null
      verification: {
        state: string
        return_mean: number | null
        command: string
      } | null
      page: string
    }
    Price: {
      /** Format: uuid */
      id: string
      /** @enum {string} */
      kind: 'free' | 'one_time' | 'per_run'
      amount_minor: number
      currency: string
      /** Format: date-time */
      effective_at: string
      /** Format: date-time */
      created_at: string
    }
    VersionDetails: {
      name: string
      version: string
      /** @enum {string} */
      state: 'checking' | 'published' | 'rejected'
      /** Format: date-time */
      created_at: string
      /** Format: date-time */
      published_at: string | null
      integrity: string
      size: number
      unpacked_size: number
      file_count: number
      deprecated: string | null
      yanked: boolean
      downloads: number
      bundle_hash: string | null
      tarball: string
      tags: string[]
      checks: {
        id: string
        ok: boolean
        message: string
      }[]
      manifest: {
        [key: string]: unknown
      }
      readme: string
      changes: components['schemas']['VersionChanges'] | null
      verification: components['schemas']['Verification'] | null
      learning_curve:
        | {
            steps: number
            return_mean: number
          }[]
        | null
      agent: components['schemas']['AgentCard']
    }
    VersionChanges: {
      markdown: string
      /** @description Without scripts, styles, forms, pictures and raw HTML. */
      html: string
    }
    Verification: {
      /** @enum {string} */
      state: 'pending' | 'verified' | 'mismatch' | 'failed' | 'unavailable'
      message: string | null
      signed: {
        statement: string
        signature: string
        key_id: string
      } | null
      /** Format: date-time */
      created_at: string
    }
    AgentCard: {
      scenario: {
        name: string
        version: string
      }
      spaces: {
        observation: {
          path: string[]
          /** @enum {string} */
          kind: 'box' | 'discrete' | 'multiDiscrete' | 'text'
          shape: number[]
          counts: number[]
          start: number
          labels: string[] | null
          low: (number | null)[] | null
          high: (number | null)[] | null
        }[]
        action: {
          path: string[]
          /** @enum {string} */
          kind: 'box' | 'discrete' | 'multiDiscrete' | 'text'
          shape: number[]
          counts: number[]
          start: number
          labels: string[] | null
          low: (number | null)[] | null
          high: (number | null)[] | null
        }[]
      }
      policy: {
        /** @enum {number} */
        version: 1
        observation: {
          name: string
          /** @enum {string} */
          kind: 'box' | 'discrete' | 'multiDiscrete' | 'text'
          offset: number
          size: number
          counts: number[]
          shape: number[]
        }[]
        action: {
          name: string
          /** @enum {string} */
          kind: 'discrete' | 'multiDiscrete' | 'box'
          offset: number
          size: number
          counts: number[]
          distributionOffset: number
          maskOffset: number
          logStdOffset: number
          low: (number | null)[]
          high: (number | null)[]
          center: number[]
          scale: number[]
          start: number
        }[]
        hidden: number[]
        /** @enum {string} */
        activation: 'tanh' | 'relu'
        embedding: number
        normalizeObservation: boolean
      }
      /** @enum {string} */
      algorithm: 'ppo' | 'grpo'
      steps: number
      evaluation: {
        scenario: string
        episodes: number
        seed: number
        return_mean: number | null
        return_std: number | null
        length_mean: number | null
        metrics: {
          [key: string]: number
        }
        success: {
          ok: boolean | null
          criteria: {
            metric: string
            target: number
            value: number | null
            ok: boolean
          }[]
        }
        trajectory_hash: string
      }
      model_hash: string
    } | null
    SampleEpisode: {
      /** @enum {number} */
      format: 1
      /** @enum {string} */
      policy: 'random' | 'agent'
      view:
        | {
            /** @enum {string} */
            kind: 'cart'
            position: number
            angle?: number
            track: {
              low: number
              high: number
              goal?: number
              heights?: number[]
            }
          }
        | {
            /** @enum {string} */
            kind: 'links'
            links: {
              cos: number
              sin: number
            }[]
            /** @enum {string} */
            zero: 'up' | 'down'
            goal?: number
          }
        | {
            /** @enum {string} */
            kind: 'grid'
            at: number
            shape: number[]
            channels: ('wall' | 'trail' | 'goal' | 'agent' | 'item')[]
            moves?: number[][]
          }
        | {
            /** @enum {string} */
            kind: 'transcript'
            facts?: string[]
          }
        | {
            /** @enum {string} */
            kind: 'lines'
            labels?: string[]
          }
        | null
      observation: {
        name: string
        /** @enum {string} */
        kind: 'box' | 'discrete' | 'multiDiscrete' | 'text'
        size: number
        shape: number[]
      }[]
      action: {
        name: string
        /** @enum {string} */
        kind: 'box' | 'discrete' | 'multiDiscrete' | 'text'
        size: number
        shape: number[]
        labels: string[]
      }[]
      steps: {
        observation: number[]
        texts: string[]
        action: number[]
        reward: number
      }[]
      last: {
        observation: number[]
        texts: string[]
      }
      /** @enum {string} */
      end: 'terminated' | 'truncated' | 'cut'
    }
    VersionReadme: {
      markdown: string
      html: string
      name: string
      version: string
    }
    ChangeList: {
      name: string
      changes: {
        version: string
        markdown: string
        /** @description Without scripts, styles, forms, pictures and raw HTML. */
        html: string
      }[]
    }
    Publisher: {
      username: string
      /** @enum {string} */
      kind: 'user' | 'organisation'
      display_name: string | null
      /** Format: date-time */
      created_at: string
      packages: components['schemas']['ListedPackage'][]
    }
    Dependents: {
      name: string
      agents: {
        name: string
        version: string
        title: string | null
        scenario_version: string
      }[]
      packages: {
        name: string
        version: string
        title: string | null
        range: string
      }[]
    }
    PublishedVersion: {
      name: string
      version: string
      /** @enum {string} */
      state: 'checking' | 'published' | 'rejected'
      url: string
      integrity: string
    }
    VersionList: {
      name: string
      tags: {
        [key: string]: string
      }
      versions: {
        version: string
        /** @enum {string} */
        state: 'checking' | 'published' | 'rejected'
        /** Format: date-time */
        created_at: string
        /** Format: date-time */
        published_at: string | null
        integrity: string
        size: number
        unpacked_size: number
        file_count: number
        deprecated: string | null
        yanked: boolean
        downloads: number
        checks_passed: number
        checks_count: number
      }[]
    }
    ResolvedVersion: {
      name: string
      version: string
      integrity: string
      tarball: string
      deprecated: string | null
      yanked: boolean
    }
    TagList: {
      name: string
      tags: {
        [key: string]: string
      }
    }
    LeasedJob:
      | components['schemas']['LeasedCheck']
      | components['schemas']['LeasedEvaluation']
      | components['schemas']['LeasedTraining']
    LeasedCheck: {
      id: string
      lease: string
      /** Format: date-time */
      expires_at: string
      traceparent: string | null
      /**
       * @description discriminator enum property added by openapi-typescript
       * @enum {string}
       */
      kind: 'check'
      package: {
        name: string
        version: string
        integrity: string
        tarball_url: string
      }
    }
    LeasedEvaluation: {
      id: string
      lease: string
      /** Format: date-time */
      expires_at: string
      traceparent: string | null
      /**
       * @description discriminator enum property added by openapi-typescript
       * @enum {string}
       */
      kind: 'evaluate'
      evaluation: {
        /** @enum {string} */
        purpose: 'verification' | 'requested'
        agent: {
          name: string
          version: string
          integrity: string
          tarball_url: string
        }
        scenario: {
          name: string
          version: string
          hash: string
          integrity: string
          tarball_url: string
        } | null
        tasks: {
          /** @enum {string} */
          id: 'claim' | 'held_out' | 'requested'
          episodes: number
          seed: number
        }[]
      }
    }
    LeasedTraining: {
      id: string
      lease: string
      /** Format: date-time */
      expires_at: string
      traceparent: string | null
      /**
       * @description discriminator enum property added by openapi-typescript
       * @enum {string}
       */
      kind: 'train'
      run: {
        scenario: {
          name: string
          version: string
          hash: string
          integrity: string
          tarball_url: string
        }
        algorithm: string
        settings: {
          [key: string]: unknown
        }
        seed: number
        attempt: number
        checkpoint: {
          iteration: number
          steps: number
          sha256: string
          url: string
        } | null
        trajectories_every: number
        publish: {
          name: string
          version: string
        } | null
        budget: {
          budget_minor: number | null
          price_milliseconds: number
          price_minor_per_hour: number
        }
      }
    }
    Run: {
      /** Format: uuid */
      id: string
      /** @enum {string} */
      state: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled' | 'budget_exceeded'
      owner: string
      created_by: string
      scenario: {
        name: string
        version: string
        hash: string
      }
      algorithm: string
      settings: {
        [key: string]: unknown
      }
      seed: number
      note: string | null
      /** Format: date-time */
      created_at: string
      /** Format: date-time */
      started_at: string | null
      /** Format: date-time */
      ended_at: string | null
      ahead: number | null
      attempt: number
      worker: string | null
      cancel_requested: boolean
      progress: {
        iteration: number
        steps: number
        steps_total: number
        steps_per_second: number
        episodes_total: number
        return_mean: number | null
        seconds: number
      } | null
      checkpoint: {
        iteration: number
        steps: number
        /** Format: date-time */
        created_at: string
      } | null
      cost: {
        currency: string
        spent_minor: number
        budget_minor: number | null
        price_minor_per_hour: number | null
      }
      error: {
        /** @enum {string} */
        code:
          | 'config_invalid'
          | 'usage_invalid'
          | 'file_not_found'
          | 'manifest_invalid'
          | 'agent_invalid'
          | 'scenario_mismatch'
          | 'checkpoint_invalid'
          | 'execution_provider_unavailable'
          | 'setup_incomplete'
          | 'database_in_use'
          | 'database_unavailable'
          | 'database_incompatible'
          | 'database_damaged'
          | 'storage_unavailable'
          | 'request_invalid'
          | 'request_too_large'
          | 'endpoint_not_found'
          | 'scenario_invalid'
          | 'scenario_build_failed'
          | 'scenario_timeout'
          | 'scenario_out_of_memory'
          | 'scenario_crashed'
          | 'scenario_threw'
          | 'scenario_nondeterministic'
          | 'reward_not_finite'
          | 'observation_invalid'
          | 'metrics_invalid'
          | 'mask_invalid'
          | 'no_legal_action'
          | 'model_load_failed'
          | 'model_run_failed'
          | 'model_output_invalid'
          | 'model_timeout'
          | 'model_out_of_memory'
          | 'model_crashed'
          | 'training_diverged'
          | 'training_failed'
          | 'training_cancelled'
          | 'run_not_found'
          | 'run_state_conflict'
          | 'run_has_no_agent'
          | 'checkpoint_not_found'
          | 'evaluation_not_found'
          | 'budget_exceeded'
          | 'worker_failed'
          | 'verification_mismatch'
          | 'signature_invalid'
          | 'verification_missing'
          | 'idempotency_key_reused'
          | 'lease_lost'
          | 'integrity_mismatch'
          | 'server_unreachable'
          | 'request_timeout'
          | 'unauthenticated'
          | 'credentials_invalid'
          | 'forbidden'
          | 'account_not_found'
          | 'package_not_found'
          | 'token_not_found'
          | 'name_invalid'
          | 'name_taken'
          | 'email_taken'
          | 'last_owner'
          | 'link_invalid'
          | 'rate_limited'
          | 'authorization_pending'
          | 'slow_down'
          | 'access_denied'
          | 'expired_token'
          | 'oauth_not_configured'
          | 'oauth_failed'
          | 'tarball_too_large'
          | 'tarball_not_gzip'
          | 'tarball_truncated'
          | 'tarball_corrupt'
          | 'tarball_trailing_data'
          | 'tarball_unpacked_too_large'
          | 'tarball_ratio_too_high'
          | 'tarball_too_many_files'
          | 'tarball_entry_unsupported'
          | 'tarball_link'
          | 'tarball_special_file'
          | 'tarball_path_too_long'
          | 'tarball_path_encoding'
          | 'tarball_path_nul'
          | 'tarball_path_backslash'
          | 'tarball_path_absolute'
          | 'tarball_path_traversal'
          | 'tarball_path_outside_package'
          | 'tarball_path_not_portable'
          | 'tarball_path_duplicate'
          | 'tarball_path_collision'
          | 'package_manifest_missing'
          | 'package_manifest_too_large'
          | 'package_manifest_not_json'
          | 'package_manifest_duplicate_key'
          | 'package_manifest_forbidden_key'
          | 'package_manifest_mismatch'
          | 'package_name_mismatch'
          | 'package_version_mismatch'
          | 'package_kind_changed'
          | 'package_license_missing'
          | 'package_readme_missing'
          | 'package_readme_invalid'
          | 'package_install_script'
          | 'package_executable'
          | 'package_native_code'
          | 'package_dependency_forbidden'
          | 'package_dependencies_bundled'
          | 'package_marked_private'
          | 'package_bundle_missing'
          | 'model_too_large'
          | 'model_truncated'
          | 'model_malformed'
          | 'model_field_unknown'
          | 'model_field_duplicate'
          | 'model_part_forbidden'
          | 'model_external_data'
          | 'model_subgraph_forbidden'
          | 'model_function_forbidden'
          | 'model_domain_forbidden'
          | 'model_opset_unsupported'
          | 'model_operator_forbidden'
          | 'model_attribute_invalid'
          | 'model_too_many_parts'
          | 'model_nesting_too_deep'
          | 'model_string_too_long'
          | 'model_name_invalid'
          | 'model_name_duplicate'
          | 'model_name_undefined'
          | 'model_type_unsupported'
          | 'model_shape_invalid'
          | 'model_shape_mismatch'
          | 'model_batch_mixed'
          | 'model_tensor_size_mismatch'
          | 'model_weights_not_finite'
          | 'model_static_size'
          | 'model_intermediate_too_large'
          | 'model_work_too_large'
          | 'model_input_mismatch'
          | 'model_output_mismatch'
          | 'version_invalid'
          | 'tag_invalid'
          | 'version_exists'
          | 'version_not_found'
          | 'version_not_published'
          | 'document_outdated'
          | 'version_immutable'
          | 'version_yanked'
          | 'sample_episode_not_found'
          | 'picture_not_found'
          | 'tag_not_found'
          | 'tag_protected'
          | 'package_visibility_fixed'
          | 'price_changed'
          | 'not_for_sale'
          | 'self_purchase'
          | 'insufficient_funds'
          | 'spend_cap_exceeded'
          | 'spend_cap_not_found'
          | 'order_not_found'
          | 'order_state_conflict'
          | 'refund_exceeds'
          | 'refund_refused'
          | 'payment_declined'
          | 'payment_not_found'
          | 'payment_provider_unavailable'
          | 'webhook_signature_invalid'
          | 'payout_not_ready'
          | 'payout_below_cleared'
          | 'money_needs_postgresql'
          | 'review_not_allowed'
          | 'review_not_found'
          | 'report_not_found'
          | 'moderation_state_conflict'
          | 'trial_exhausted'
          | 'agent_unavailable'
          | 'agent_failed'
          | 'package_taken_down'
          | 'payment_required'
          | 'hosted_only'
          | 'object_damaged'
          | 'internal_error'
        message: string
        hint?: string
        data?: {
          [key: string]: unknown
        }
      } | null
      evaluation: {
        scenario: string
        episodes: number
        seed: number
        return_mean: number | null
        return_std: number | null
        length_mean: number | null
        metrics: {
          [key: string]: number
        }
        success: {
          ok: boolean | null
          criteria: {
            metric: string
            target: number
            value: number | null
            ok: boolean
          }[]
        }
        trajectory_hash: string
      } | null
      agent: {
        integrity: string
        size: number
        tarball: string
        package: {
          name: string
          version: string
        } | null
      } | null
      last_event: number
    }
    RunList: {
      runs: components['schemas']['Run'][]
      next_cursor: string | null
    }
    EvaluationJob: {
      /** Format: uuid */
      id: string
      /** Format: uuid */
      run: string | null
      /** @enum {string} */
      state: 'queued' | 'running' | 'completed' | 'failed'
      episodes: number
      seed: number
      evaluation: {
        scenario: string
        episodes: number
        seed: number
        return_mean: number | null
        return_std: number | null
        length_mean: number | null
        metrics: {
          [key: string]: number
        }
        success: {
          ok: boolean | null
          criteria: {
            metric: string
            target: number
            value: number | null
            ok: boolean
          }[]
        }
        trajectory_hash: string
      } | null
      error: {
        /** @enum {string} */
        code:
          | 'config_invalid'
          | 'usage_invalid'
          | 'file_not_found'
          | 'manifest_invalid'
          | 'agent_invalid'
          | 'scenario_mismatch'
          | 'checkpoint_invalid'
          | 'execution_provider_unavailable'
          | 'setup_incomplete'
          | 'database_in_use'
          | 'database_unavailable'
          | 'database_incompatible'
          | 'database_damaged'
          | 'storage_unavailable'
          | 'request_invalid'
          | 'request_too_large'
          | 'endpoint_not_found'
          | 'scenario_invalid'
          | 'scenario_build_failed'
          | 'scenario_timeout'
          | 'scenario_out_of_memory'
          | 'scenario_crashed'
          | 'scenario_threw'
          | 'scenario_nondeterministic'
          | 'reward_not_finite'
          | 'observation_invalid'
          | 'metrics_invalid'
          | 'mask_invalid'
          | 'no_legal_action'
          | 'model_load_failed'
          | 'model_run_failed'
          | 'model_output_invalid'
          | 'model_timeout'
          | 'model_out_of_memory'
          | 'model_crashed'
          | 'training_diverged'
          | 'training_failed'
          | 'training_cancelled'
          | 'run_not_found'
          | 'run_state_conflict'
          | 'run_has_no_agent'
          | 'checkpoint_not_found'
          | 'evaluation_not_found'
          | 'budget_exceeded'
          | 'worker_failed'
          | 'verification_mismatch'
          | 'signature_invalid'
          | 'verification_missing'
          | 'idempotency_key_reused'
          | 'lease_lost'
          | 'integrity_mismatch'
          | 'server_unreachable'
          | 'request_timeout'
          | 'unauthenticated'
          | 'credentials_invalid'
          | 'forbidden'
          | 'account_not_found'
          | 'package_not_found'
          | 'token_not_found'
          | 'name_invalid'
          | 'name_taken'
          | 'email_taken'
          | 'last_owner'
          | 'link_invalid'
          | 'rate_limited'
          | 'authorization_pending'
          | 'slow_down'
          | 'access_denied'
          | 'expired_token'
          | 'oauth_not_configured'
          | 'oauth_failed'
          | 'tarball_too_large'
          | 'tarball_not_gzip'
          | 'tarball_truncated'
          | 'tarball_corrupt'
          | 'tarball_trailing_data'
          | 'tarball_unpacked_too_large'
          | 'tarball_ratio_too_high'
          | 'tarball_too_many_files'
          | 'tarball_entry_unsupported'
          | 'tarball_link'
          | 'tarball_special_file'
          | 'tarball_path_too_long'
          | 'tarball_path_encoding'
          | 'tarball_path_nul'
          | 'tarball_path_backslash'
          | 'tarball_path_absolute'
          | 'tarball_path_traversal'
          | 'tarball_path_outside_package'
          | 'tarball_path_not_portable'
          | 'tarball_path_duplicate'
          | 'tarball_path_collision'
          | 'package_manifest_missing'
          | 'package_manifest_too_large'
          | 'package_manifest_not_json'
          | 'package_manifest_duplicate_key'
          | 'package_manifest_forbidden_key'
          | 'package_manifest_mismatch'
          | 'package_name_mismatch'
          | 'package_version_mismatch'
          | 'package_kind_changed'
          | 'package_license_missing'
          | 'package_readme_missing'
          | 'package_readme_invalid'
          | 'package_install_script'
          | 'package_executable'
          | 'package_native_code'
          | 'package_dependency_forbidden'
          | 'package_dependencies_bundled'
          | 'package_marked_private'
          | 'package_bundle_missing'
          | 'model_too_large'
          | 'model_truncated'
          | 'model_malformed'
          | 'model_field_unknown'
          | 'model_field_duplicate'
          | 'model_part_forbidden'
          | 'model_external_data'
          | 'model_subgraph_forbidden'
          | 'model_function_forbidden'
          | 'model_domain_forbidden'
          | 'model_opset_unsupported'
          | 'model_operator_forbidden'
          | 'model_attribute_invalid'
          | 'model_too_many_parts'
          | 'model_nesting_too_deep'
          | 'model_string_too_long'
          | 'model_name_invalid'
          | 'model_name_duplicate'
          | 'model_name_undefined'
          | 'model_type_unsupported'
          | 'model_shape_invalid'
          | 'model_shape_mismatch'
          | 'model_batch_mixed'
          | 'model_tensor_size_mismatch'
          | 'model_weights_not_finite'
          | 'model_static_size'
          | 'model_intermediate_too_large'
          | 'model_work_too_large'
          | 'model_input_mismatch'
          | 'model_output_mismatch'
          | 'version_invalid'
          | 'tag_invalid'
          | 'version_exists'
          | 'version_not_found'
          | 'version_not_published'
          | 'document_outdated'
          | 'version_immutable'
          | 'version_yanked'
          | 'sample_episode_not_found'
          | 'picture_not_found'
          | 'tag_not_found'
          | 'tag_protected'
          | 'package_visibility_fixed'
          | 'price_changed'
          | 'not_for_sale'
          | 'self_purchase'
          | 'insufficient_funds'
          | 'spend_cap_exceeded'
          | 'spend_cap_not_found'
          | 'order_not_found'
          | 'order_state_conflict'
          | 'refund_exceeds'
          | 'refund_refused'
          | 'payment_declined'
          | 'payment_not_found'
          | 'payment_provider_unavailable'
          | 'webhook_signature_invalid'
          | 'payout_not_ready'
          | 'payout_below_cleared'
          | 'money_needs_postgresql'
          | 'review_not_allowed'
          | 'review_not_found'
          | 'report_not_found'
          | 'moderation_state_conflict'
          | 'trial_exhausted'
          | 'agent_unavailable'
          | 'agent_failed'
          | 'package_taken_down'
          | 'payment_required'
          | 'hosted_only'
          | 'object_damaged'
          | 'internal_error'
        message: string
        hint?: string
        data?: {
          [key: string]: unknown
        }
      } | null
      /** Format: date-time */
      created_at: string
      /** Format: date-time */
      ended_at: string | null
    }
    ServerStatus: {
      queue: {
        check: {
          queued: number
          running: number
        }
        evaluate: {
          queued: number
          running: number
        }
        train: {
          queued: number
          running: number
        }
      }
      workers: {
        name: string
        /** @enum {string} */
        state: 'idle' | 'busy' | 'silent'
        running: number
        slots: number
        cores: number
        memory_bytes: number
        gpus: {
          name: string
          memory_bytes: number
        }[]
        usage: {
          cpu: number | null
          memory: number | null
          gpu: number | null
        }
        price_minor_per_hour: number
        /** Format: date-time */
        seen_at: string
      }[]
      runs: {
        queued: number
        running: number
      }
      currency: string
    }
    RunEvent:
      | {
          seq: number
          /** Format: date-time */
          at: string
          /** @enum {string} */
          type: 'queued'
          data: {
            /** @enum {string} */
            reason: 'submitted' | 'lease_expired' | 'released' | 'resumed'
            message: string | null
          }
        }
      | {
          seq: number
          /** Format: date-time */
          at: string
          /** @enum {string} */
          type: 'running'
          data: {
            attempt: number
            worker: string
            price_minor_per_hour: number
            from_iteration: number
          }
        }
      | {
          seq: number
          /** Format: date-time */
          at: string
          /** @enum {string} */
          type: 'progress'
          data: {
            /** @enum {string} */
            event: 'progress'
            iteration: number
            steps: number
            steps_total: number
            steps_per_second: number
            seconds: number
            collect_seconds: number
            update_seconds: number
            episodes: number
            episodes_total: number
            return_mean: number | null
            length_mean: number | null
            metrics: {
              [key: string]: number
            }
            learner: {
              policy_loss: number | null
              value_loss: number | null
              entropy: number | null
              approximate_kl: number | null
              clip_fraction: number | null
              explained_variance: number | null
              kl_to_reference: number | null
              zero_variance_groups: number | null
              gradient_norm: number | null
              learning_rate: number | null
            }
          }
        }
      | {
          seq: number
          /** Format: date-time */
          at: string
          /** @enum {string} */
          type: 'evaluation'
          data: {
            iteration: number
            steps: number
            evaluation: {
              scenario: string
              episodes: number
              seed: number
              return_mean: number | null
              return_std: number | null
              length_mean: number | null
              metrics: {
                [key: string]: number
              }
              success: {
                ok: boolean | null
                criteria: {
                  metric: string
                  target: number
                  value: number | null
                  ok: boolean
                }[]
              }
              trajectory_hash: string
            }
          }
        }
      | {
          seq: number
          /** Format: date-time */
          at: string
          /** @enum {string} */
          type: 'checkpoint'
          data: {
            iteration: number
            steps: number
          }
        }
      | {
          seq: number
          /** Format: date-time */
          at: string
          /** @enum {string} */
          type: 'budget_warning'
          data: {
            spent_minor: number
            budget_minor: number
          }
        }
      | {
          seq: number
          /** Format: date-time */
          at: string
          /** @enum {string} */
          type: 'cancel_requested'
          data: Record<string, never>
        }
      | {
          seq: number
          /** Format: date-time */
          at: string
          /** @enum {string} */
          type: 'completed'
          data: {
            steps: number
            seconds: number
            evaluation: {
              scenario: string
              episodes: number
              seed: number
              return_mean: number | null
              return_std: number | null
              length_mean: number | null
              metrics: {
                [key: string]: number
              }
              success: {
                ok: boolean | null
                criteria: {
                  metric: string
                  target: number
                  value: number | null
                  ok: boolean
                }[]
              }
              trajectory_hash: string
            }
          }
        }
      | {
          seq: number
          /** Format: date-time */
          at: string
          /** @enum {string} */
          type: 'failed'
          data: {
            error: {
              /** @enum {string} */
              code:
                | 'config_invalid'
                | 'usage_invalid'
                | 'file_not_found'
                | 'manifest_invalid'
                | 'agent_invalid'
                | 'scenario_mismatch'
                | 'checkpoint_invalid'
                | 'execution_provider_unavailable'
                | 'setup_incomplete'
                | 'database_in_use'
                | 'database_unavailable'
                | 'database_incompatible'
                | 'database_damaged'
                | 'storage_unavailable'
                | 'request_invalid'
                | 'request_too_large'
                | 'endpoint_not_found'
                | 'scenario_invalid'
                | 'scenario_build_failed'
                | 'scenario_timeout'
                | 'scenario_out_of_memory'
                | 'scenario_crashed'
                | 'scenario_threw'
                | 'scenario_nondeterministic'
                | 'reward_not_finite'
                | 'observation_invalid'
                | 'metrics_invalid'
                | 'mask_invalid'
                | 'no_legal_action'
                | 'model_load_failed'
                | 'model_run_failed'
                | 'model_output_invalid'
                | 'model_timeout'
                | 'model_out_of_memory'
                | 'model_crashed'
                | 'training_diverged'
                | 'training_failed'
                | 'training_cancelled'
                | 'run_not_found'
                | 'run_state_conflict'
                | 'run_has_no_agent'
                | 'checkpoint_not_found'
                | 'evaluation_not_found'
                | 'budget_exceeded'
                | 'worker_failed'
                | 'verification_mismatch'
                | 'signature_invalid'
                | 'verification_missing'
                | 'idempotency_key_reused'
                | 'lease_lost'
                | 'integrity_mismatch'
                | 'server_unreachable'
                | 'request_timeout'
                | 'unauthenticated'
                | 'credentials_invalid'
                | 'forbidden'
                | 'account_not_found'
                | 'package_not_found'
                | 'token_not_found'
                | 'name_invalid'
                | 'name_taken'
                | 'email_taken'
                | 'last_owner'
                | 'link_invalid'
                | 'rate_limited'
                | 'authorization_pending'
                | 'slow_down'
                | 'access_denied'
                | 'expired_token'
                | 'oauth_not_configured'
                | 'oauth_failed'
                | 'tarball_too_large'
                | 'tarball_not_gzip'
                | 'tarball_truncated'
                | 'tarball_corrupt'
                | 'tarball_trailing_data'
                | 'tarball_unpacked_too_large'
                | 'tarball_ratio_too_high'
                | 'tarball_too_many_files'
                | 'tarball_entry_unsupported'
                | 'tarball_link'
                | 'tarball_special_file'
                | 'tarball_path_too_long'
                | 'tarball_path_encoding'
                | 'tarball_path_nul'
                | 'tarball_path_backslash'
                | 'tarball_path_absolute'
                | 'tarball_path_traversal'
                | 'tarball_path_outside_package'
                | 'tarball_path_not_portable'
                | 'tarball_path_duplicate'
                | 'tarball_path_collision'
                | 'package_manifest_missing'
                | 'package_manifest_too_large'
                | 'package_manifest_not_json'
                | 'package_manifest_duplicate_key'
                | 'package_manifest_forbidden_key'
                | 'package_manifest_mismatch'
                | 'package_name_mismatch'
                | 'package_version_mismatch'
                | 'package_kind_changed'
                | 'package_license_missing'
                | 'package_readme_missing'
                | 'package_readme_invalid'
                | 'package_install_script'
                | 'package_executable'
                | 'package_native_code'
                | 'package_dependency_forbidden'
                | 'package_dependencies_bundled'
                | 'package_marked_private'
                | 'package_bundle_missing'
                | 'model_too_large'
                | 'model_truncated'
                | 'model_malformed'
                | 'model_field_unknown'
                | 'model_field_duplicate'
                | 'model_part_forbidden'
                | 'model_external_data'
                | 'model_subgraph_forbidden'
                | 'model_function_forbidden'
                | 'model_domain_forbidden'
                | 'model_opset_unsupported'
                | 'model_operator_forbidden'
                | 'model_attribute_invalid'
                | 'model_too_many_parts'
                | 'model_nesting_too_deep'
                | 'model_string_too_long'
                | 'model_name_invalid'
                | 'model_name_duplicate'
                | 'model_name_undefined'
                | 'model_type_unsupported'
                | 'model_shape_invalid'
                | 'model_shape_mismatch'
                | 'model_batch_mixed'
                | 'model_tensor_size_mismatch'
                | 'model_weights_not_finite'
                | 'model_static_size'
                | 'model_intermediate_too_large'
                | 'model_work_too_large'
                | 'model_input_mismatch'
                | 'model_output_mismatch'
                | 'version_invalid'
                | 'tag_invalid'
                | 'version_exists'
                | 'version_not_found'
                | 'version_not_published'
                | 'document_outdated'
                | 'version_immutable'
                | 'version_yanked'
                | 'sample_episode_not_found'
                | 'picture_not_found'
                | 'tag_not_found'
                | 'tag_protected'
                | 'package_visibility_fixed'
                | 'price_changed'
                | 'not_for_sale'
                | 'self_purchase'
                | 'insufficient_funds'
                | 'spend_cap_exceeded'
                | 'spend_cap_not_found'
                | 'order_not_found'
                | 'order_state_conflict'
                | 'refund_exceeds'
                | 'refund_refused'
                | 'payment_declined'
                | 'payment_not_found'
                | 'payment_provider_unavailable'
                | 'webhook_signature_invalid'
                | 'payout_not_ready'
                | 'payout_below_cleared'
                | 'money_needs_postgresql'
                | 'review_not_allowed'
                | 'review_not_found'
                | 'report_not_found'
                | 'moderation_state_conflict'
                | 'trial_exhausted'
                | 'agent_unavailable'
                | 'agent_failed'
                | 'package_taken_down'
                | 'payment_required'
                | 'hosted_only'
                | 'object_damaged'
                | 'internal_error'
              message: string
              hint?: string
              data?: {
                [key: string]: unknown
              }
            }
          }
        }
      | {
          seq: number
          /** Format: date-time */
          at: string
          /** @enum {string} */
          type: 'cancelled'
          data: Record<string, never>
        }
      | {
          seq: number
          /** Format: date-time */
          at: string
          /** @enum {string} */
          type: 'budget_exceeded'
          data: {
            spent_minor: number
            budget_minor: number
          }
        }
      | {
          seq: number
          /** Format: date-time */
          at: string
          /** @enum {string} */
          type: 'published'
          data: {
            name: string
            version: string
          }
        }
      | {
          seq: number
          /** Format: date-time */
          at: string
          /** @enum {string} */
          type: 'publish_failed'
          data: {
            error: {
              /** @enum {string} */
              code:
                | 'config_invalid'
                | 'usage_invalid'
                | 'file_not_found'
                | 'manifest_invalid'
                | 'agent_invalid'
                | 'scenario_mismatch'
                | 'checkpoint_invalid'
                | 'execution_provider_unavailable'
                | 'setup_incomplete'
                | 'database_in_use'
                | 'database_unavailable'
                | 'database_incompatible'
                | 'database_damaged'
                | 'storage_unavailable'
                | 'request_invalid'
                | 'request_too_large'
                | 'endpoint_not_found'
                | 'scenario_invalid'
                | 'scenario_build_failed'
                | 'scenario_timeout'
                | 'scenario_out_of_memory'
                | 'scenario_crashed'
                | 'scenario_threw'
                | 'scenario_nondeterministic'
                | 'reward_not_finite'
                | 'observation_invalid'
                | 'metrics_invalid'
                | 'mask_invalid'
                | 'no_legal_action'
                | 'model_load_failed'
                | 'model_run_failed'
                | 'model_output_invalid'
                | 'model_timeout'
                | 'model_out_of_memory'
                | 'model_crashed'
                | 'training_diverged'
                | 'training_failed'
                | 'training_cancelled'
                | 'run_not_found'
                | 'run_state_conflict'
                | 'run_has_no_agent'
                | 'checkpoint_not_found'
                | 'evaluation_not_found'
                | 'budget_exceeded'
                | 'worker_failed'
                | 'verification_mismatch'
                | 'signature_invalid'
                | 'verification_missing'
                | 'idempotency_key_reused'
                | 'lease_lost'
                | 'integrity_mismatch'
                | 'server_unreachable'
                | 'request_timeout'
                | 'unauthenticated'
                | 'credentials_invalid'
                | 'forbidden'
                | 'account_not_found'
                | 'package_not_found'
                | 'token_not_found'
                | 'name_invalid'
                | 'name_taken'
                | 'email_taken'
                | 'last_owner'
                | 'link_invalid'
                | 'rate_limited'
                | 'authorization_pending'
                | 'slow_down'
                | 'access_denied'
                | 'expired_token'
                | 'oauth_not_configured'
                | 'oauth_failed'
                | 'tarball_too_large'
                | 'tarball_not_gzip'
                | 'tarball_truncated'
                | 'tarball_corrupt'
                | 'tarball_trailing_data'
                | 'tarball_unpacked_too_large'
                | 'tarball_ratio_too_high'
                | 'tarball_too_many_files'
                | 'tarball_entry_unsupported'
                | 'tarball_link'
                | 'tarball_special_file'
                | 'tarball_path_too_long'
                | 'tarball_path_encoding'
                | 'tarball_path_nul'
                | 'tarball_path_backslash'
                | 'tarball_path_absolute'
                | 'tarball_path_traversal'
                | 'tarball_path_outside_package'
                | 'tarball_path_not_portable'
                | 'tarball_path_duplicate'
                | 'tarball_path_collision'
                | 'package_manifest_missing'
                | 'package_manifest_too_large'
                | 'package_manifest_not_json'
                | 'package_manifest_duplicate_key'
                | 'package_manifest_forbidden_key'
                | 'package_manifest_mismatch'
                | 'package_name_mismatch'
                | 'package_version_mismatch'
                | 'package_kind_changed'
                | 'package_license_missing'
                | 'package_readme_missing'
                | 'package_readme_invalid'
                | 'package_install_script'
                | 'package_executable'
                | 'package_native_code'
                | 'package_dependency_forbidden'
                | 'package_dependencies_bundled'
                | 'package_marked_private'
                | 'package_bundle_missing'
                | 'model_too_large'
                | 'model_truncated'
                | 'model_malformed'
                | 'model_field_unknown'
                | 'model_field_duplicate'
                | 'model_part_forbidden'
                | 'model_external_data'
                | 'model_subgraph_forbidden'
                | 'model_function_forbidden'
                | 'model_domain_forbidden'
                | 'model_opset_unsupported'
                | 'model_operator_forbidden'
                | 'model_attribute_invalid'
                | 'model_too_many_parts'
                | 'model_nesting_too_deep'
                | 'model_string_too_long'
                | 'model_name_invalid'
                | 'model_name_duplicate'
                | 'model_name_undefined'
                | 'model_type_unsupported'
                | 'model_shape_invalid'
                | 'model_shape_mismatch'
                | 'model_batch_mixed'
                | 'model_tensor_size_mismatch'
                | 'model_weights_not_finite'
                | 'model_static_size'
                | 'model_intermediate_too_large'
                | 'model_work_too_large'
                | 'model_input_mismatch'
                | 'model_output_mismatch'
                | 'version_invalid'
                | 'tag_invalid'
                | 'version_exists'
                | 'version_not_found'
                | 'version_not_published'
                | 'document_outdated'
                | 'version_immutable'
                | 'version_yanked'
                | 'sample_episode_not_found'
                | 'picture_not_found'
                | 'tag_not_found'
                | 'tag_protected'
                | 'package_visibility_fixed'
                | 'price_changed'
                | 'not_for_sale'
                | 'self_purchase'
                | 'insufficient_funds'
                | 'spend_cap_exceeded'
                | 'spend_cap_not_found'
                | 'order_not_found'
                | 'order_state_conflict'
                | 'refund_exceeds'
                | 'refund_refused'
                | 'payment_declined'
                | 'payment_not_found'
                | 'payment_provider_unavailable'
                | 'webhook_signature_invalid'
                | 'payout_not_ready'
                | 'payout_below_cleared'
                | 'money_needs_postgresql'
                | 'review_not_allowed'
                | 'review_not_found'
                | 'report_not_found'
                | 'moderation_state_conflict'
                | 'trial_exhausted'
                | 'agent_unavailable'
                | 'agent_failed'
                | 'package_taken_down'
                | 'payment_required'
                | 'hosted_only'
                | 'object_damaged'
                | 'internal_error'
              message: string
              hint?: string
              data?: {
                [key: string]: unknown
              }
            }
          }
        }
    RunMetrics: {
      points: {
        /** @enum {string} */
        event: 'progress'
        iteration: number
        steps: number
        steps_total: number
        steps_per_second: number
        seconds: number
        collect_seconds: number
        update_seconds: number
        episodes: number
        episodes_total: number
        return_mean: number | null
        length_mean: number | null
        metrics: {
          [key: string]: number
        }
        learner: {
          policy_loss: number | null
          value_loss: number | null
          entropy: number | null
          approximate_kl: number | null
          clip_fraction: number | null
          explained_variance: number | null
          kl_to_reference: number | null
          zero_variance_groups: number | null
          gradient_norm: number | null
          learning_rate: number | null
        }
      }[]
      next: number | null
    }
    RpcResponse: {
      /** @enum {string} */
      jsonrpc: '2.0'
      result?: unknown
      error?: {
        code: number
        message: string
        data: {
          /** @enum {string} */
          code:
            | 'config_invalid'
            | 'usage_invalid'
            | 'file_not_found'
            | 'manifest_invalid'
            | 'agent_invalid'
            | 'scenario_mismatch'
            | 'checkpoint_invalid'
            | 'execution_provider_unavailable'
            | 'setup_incomplete'
            | 'database_in_use'
            | 'database_unavailable'
            | 'database_incompatible'
            | 'database_damaged'
            | 'storage_unavailable'
            | 'request_invalid'
            | 'request_too_large'
            | 'endpoint_not_found'
            | 'scenario_invalid'
            | 'scenario_build_failed'
            | 'scenario_timeout'
            | 'scenario_out_of_memory'
            | 'scenario_crashed'
            | 'scenario_threw'
            | 'scenario_nondeterministic'
            | 'reward_not_finite'
            | 'observation_invalid'
            | 'metrics_invalid'
            | 'mask_invalid'
            | 'no_legal_action'
            | 'model_load_failed'
            | 'model_run_failed'
            | 'model_output_invalid'
            | 'model_timeout'
            | 'model_out_of_memory'
            | 'model_crashed'
            | 'training_diverged'
            | 'training_failed'
            | 'training_cancelled'
            | 'run_not_found'
            | 'run_state_conflict'
            | 'run_has_no_agent'
            | 'checkpoint_not_found'
            | 'evaluation_not_found'
            | 'budget_exceeded'
            | 'worker_failed'
            | 'verification_mismatch'
            | 'signature_invalid'
            | 'verification_missing'
            | 'idempotency_key_reused'
            | 'lease_lost'
            | 'integrity_mismatch'
            | 'server_unreachable'
            | 'request_timeout'
            | 'unauthenticated'
            | 'credentials_invalid'
            | 'forbidden'
            | 'account_not_found'
            | 'package_not_found'
            | 'token_not_found'
            | 'name_invalid'
            | 'name_taken'
            | 'email_taken'
            | 'last_owner'
            | 'link_invalid'
            | 'rate_limited'
            | 'authorization_pending'
            | 'slow_down'
            | 'access_denied'
            | 'expired_token'
            | 'oauth_not_configured'
            | 'oauth_failed'
            | 'tarball_too_large'
            | 'tarball_not_gzip'
            | 'tarball_truncated'
            | 'tarball_corrupt'
            | 'tarball_trailing_data'
            | 'tarball_unpacked_too_large'
            | 'tarball_ratio_too_high'
            | 'tarball_too_many_files'
            | 'tarball_entry_unsupported'
            | 'tarball_link'
            | 'tarball_special_file'
            | 'tarball_path_too_long'
            | 'tarball_path_encoding'
            | 'tarball_path_nul'
            | 'tarball_path_backslash'
            | 'tarball_path_absolute'
            | 'tarball_path_traversal'
            | 'tarball_path_outside_package'
            | 'tarball_path_not_portable'
            | 'tarball_path_duplicate'
            | 'tarball_path_collision'
            | 'package_manifest_missing'
            | 'package_manifest_too_large'
            | 'package_manifest_not_json'
            | 'package_manifest_duplicate_key'
            | 'package_manifest_forbidden_key'
            | 'package_manifest_mismatch'
            | 'package_name_mismatch'
            | 'package_version_mismatch'
            | 'package_kind_changed'
            | 'package_license_missing'
            | 'package_readme_missing'
            | 'package_readme_invalid'
            | 'package_install_script'
            | 'package_executable'
            | 'package_native_code'
            | 'package_dependency_forbidden'
            | 'package_dependencies_bundled'
            | 'package_marked_private'
            | 'package_bundle_missing'
            | 'model_too_large'
            | 'model_truncated'
            | 'model_malformed'
            | 'model_field_unknown'
            | 'model_field_duplicate'
            | 'model_part_forbidden'
            | 'model_external_data'
            | 'model_subgraph_forbidden'
            | 'model_function_forbidden'
            | 'model_domain_forbidden'
            | 'model_opset_unsupported'
            | 'model_operator_forbidden'
            | 'model_attribute_invalid'
            | 'model_too_many_parts'
            | 'model_nesting_too_deep'
            | 'model_string_too_long'
            | 'model_name_invalid'
            | 'model_name_duplicate'
            | 'model_name_undefined'
            | 'model_type_unsupported'
            | 'model_shape_invalid'
            | 'model_shape_mismatch'
            | 'model_batch_mixed'
            | 'model_tensor_size_mismatch'
            | 'model_weights_not_finite'
            | 'model_static_size'
            | 'model_intermediate_too_large'
            | 'model_work_too_large'
            | 'model_input_mismatch'
            | 'model_output_mismatch'
            | 'version_invalid'
            | 'tag_invalid'
            | 'version_exists'
            | 'version_not_found'
            | 'version_not_published'
            | 'document_outdated'
            | 'version_immutable'
            | 'version_yanked'
            | 'sample_episode_not_found'
            | 'picture_not_found'
            | 'tag_not_found'
            | 'tag_protected'
            | 'package_visibility_fixed'
            | 'price_changed'
            | 'not_for_sale'
            | 'self_purchase'
            | 'insufficient_funds'
            | 'spend_cap_exceeded'
            | 'spend_cap_not_found'
            | 'order_not_found'
            | 'order_state_conflict'
            | 'refund_exceeds'
            | 'refund_refused'
            | 'payment_declined'
            | 'payment_not_found'
            | 'payment_provider_unavailable'
            | 'webhook_signature_invalid'
            | 'payout_not_ready'
            | 'payout_below_cleared'
            | 'money_needs_postgresql'
            | 'review_not_allowed'
            | 'review_not_found'
            | 'report_not_found'
            | 'moderation_state_conflict'
            | 'trial_exhausted'
            | 'agent_unavailable'
            | 'agent_failed'
            | 'package_taken_down'
            | 'payment_required'
            | 'hosted_only'
            | 'object_damaged'
            | 'internal_error'
          message: string
          hint?: string
          data?: {
            [key: string]: unknown
          }
        }
      }
      id: string | number | null
    }
    RpcRequest: {
      /** @enum {string} */
      jsonrpc: '2.0'
      /** @enum {string} */
      method:
        | 'training.start_grpo'
        | 'training.start'
        | 'training.get_status'
        | 'training.cancel'
        | 'training.evaluate'
        | 'training.export_trajectories'
      params?: {
        [key: string]: unknown
      }
      id?: string | number | null
    }
    SigningKeys: {
      keys: {
        id: string
        /** @enum {string} */
        algorithm: 'Ed25519'
        public_key: string
        /** Format: date-time */
        created_at: string
        /** Format: date-time */
        retired_at: string | null
      }[]
    }
    Leaderboard: {
      scenario: {
        name: string
        version: string
      }
      entries: {
        rank: number
        agent: {
          name: string
          version: string
          title: string | null
          algorithm: string
        }
        publisher: string
        return_mean: number
        return_std: number | null
        length_mean: number | null
        metrics: {
          [key: string]: number
        }
        success: boolean | null
        episodes: number
        steps: number
        /** Format: date-time */
        verified_at: string
      }[]
      next: string | null
    }
    ReviewList: {
      rating: {
        score: number | null
        votes: number
        by_stars: number[]
      }
      reviews: components['schemas']['Review'][]
      next_cursor: string | null
    }
    Review: {
      /** Format: uuid */
      id: string
      version: string
      author: string
      stars: number
      text: string
      reply: {
        by: string
        text: string
        /** Format: date-time */
        at: string
      } | null
      /** Format: date-time */
      created_at: string
      /** Format: date-time */
      updated_at: string
    }
    Report: {
      /** Format: uuid */
      id: string
      package: string
      /** Format: uuid */
      review: string | null
      /** @enum {string} */
      reason: 'malicious' | 'infringing' | 'misleading' | 'abusive' | 'spam' | 'other' | 'appeal'
      text: string
      by: string
      /** @enum {string} */
      state: 'open' | 'dismissed' | 'upheld'
      decision: {
        by: string
        reason: string
        /** Format: date-time */
        at: string
      } | null
      /** Format: date-time */
      created_at: string
    }
    ReportList: {
      reports: components['schemas']['Report'][]
      next_cursor: string | null
    }
    Moderation: {
      package: string
      taken_down: {
        /** Format: date-time */
        at: string
        reason: string
      } | null
      trail: {
        /** Format: date-time */
        at: string
        action: string
        by: string
        reason: string
      }[]
    }
    UsageAccepted: {
      counted: number
      repeated: number
    }
    CallAllowance: {
      allowed: boolean
      /** @enum {string} */
      because: 'own' | 'free' | 'bought' | 'trial' | 'trial_used_up' | 'not_bought' | 'balance_empty'
      trial_calls_left: number | null
    }
    HostedCall: {
      /** Format: uuid */
      id: string
      package: string
      version: string
      action: unknown
      label: string | null
      probabilities: number[] | null
      /** @enum {string} */
      because: 'own' | 'free' | 'bought' | 'trial'
      /** @description Null where it was not a call of the trial. */
      trial_calls_left: number | null
      model_ms: number
    }
    LeasedCalls: {
      lease: string
      /** Format: date-time */
      expires_at: string
      agent: {
        /** Format: uuid */
        id: string
        name: string
        version: string
        integrity: string
        tarball_url: string
      }
      calls: {
        /** Format: uuid */
        id: string
        observation: unknown
        action_mask: unknown
      }[]
    }
    CallAnswersTaken: {
      taken: number
      late: number
    }
    ChatCompletion: {
      id: string
      /** @enum {string} */
      object: 'chat.completion'
      created: number
      model: string
      choices: {
        index: number
        message: {
          /** @enum {string} */
          role: 'assistant'
          content: string | null
          refusal: null
          tool_calls?: {
            id: string
            /** @enum {string} */
            type: 'function'
            function: {
              name: string
              arguments: string
            }
          }[]
        }
        logprobs: null
        /** @enum {string} */
        finish_reason: 'stop' | 'tool_calls'
      }[]
      usage: {
        prompt_tokens: number
        completion_tokens: number
        total_tokens: number
      }
    }
    ModelList: {
      /** @enum {string} */
      object: 'list'
      data: {
        id: string
        /** @enum {string} */
        object: 'model'
        created: number
        owned_by: string
      }[]
    }
    PricePage: {
      package: string
      current: components['schemas']['Price']
      upcoming: components['schemas']['Price'] | null
      history: components['schemas']['Price'][]
      royalty_basis_points: number
      trial_calls: number
      calls_price_minor: number
      terms: string
      upcoming_terms: {
        royalty_basis_points: number
        calls_price_minor: number
        /** Format: date-time */
        effective_at: string
      } | null
    }
    Order: {
      /** Format: uuid */
      id: string
      /** @enum {string} */
      state: 'awaiting_payment' | 'paid' | 'cancelled' | 'expired' | 'refunded' | 'charged_back'
      package: string
      /** @enum {string} */
      kind: 'scenario' | 'agent'
      version: string
      covers: string
      /** @enum {string} */
      price_kind: 'free' | 'one_time' | 'per_run'
      buyer: string
      placed_by: string
      seller: string
      total_minor: number
      refunded_minor: number
      currency: string
      /** @enum {string} */
      pay_with: 'balance' | 'provider'
      checkout_url: string | null
      /** Format: uuid */
      run: string | null
      refunds: {
        /** Format: uuid */
        id: string
        amount_minor: number
        reason: string
        by: string
        /** Format: date-time */
        created_at: string
      }[]
      refundable: {
        by_buyer: boolean
        why: string
      }
      /** Format: date-time */
      created_at: string
      /** Format: date-time */
      paid_at: string | null
      /** Format: date-time */
      ended_at: string | null
    }
    OrderList: {
      orders: components['schemas']['Order'][]
      next_cursor: string | null
    }
    EntitlementList: {
      entitlements: {
        package: string
        /** @enum {string} */
        kind: 'scenario' | 'agent'
        covers: string
        holder: string
        /** Format: uuid */
        order: string
        /** Format: date-time */
        granted_at: string
      }[]
      next_cursor: string | null
    }
    Balance: {
      account: string
      currency: string
      available_minor: number
      held_minor: number
      awaited_minor: number
    }
    Payment: {
      /** Format: uuid */
      id: string
      /** @enum {string} */
      purpose: 'top_up' | 'order'
      /** @enum {string} */
      state: 'pending' | 'succeeded' | 'failed' | 'expired' | 'disputed'
      provider: string
      account: string
      /** Format: uuid */
      order: string | null
      amount_minor: number
      currency: string
      checkout_url: string | null
      message: string | null
      /** Format: date-time */
      created_at: string
      /** Format: date-time */
      ended_at: string | null
    }
    PaymentList: {
      payments: components['schemas']['Payment'][]
      next_cursor: string | null
    }
    PayoutDestination: {
      account: string
      provider: string
      ready: boolean
      onboarding_url: string | null
    }
    PayoutList: {
      payouts: components['schemas']['Payout'][]
      next_cursor: string | null
    }
    Payout: {
      /** Format: uuid */
      id: string
      account: string
      /** @enum {string} */
      state: 'pending' | 'paid' | 'failed'
      amount_minor: number
      currency: string
      message: string | null
      /** Format: date-time */
      created_at: string
      /** Format: date-time */
      ended_at: string | null
    }
    Earnings: {
      account: string
      currency: string
      sales_minor: number
      fees_minor: number
      royalties_earned_minor: number
      royalties_paid_minor: number
      refunds_minor: number
      paid_out_minor: number
      balance_minor: number
      cleared_minor: number
      held_minor: number
      debt_minor: number
    }
    EarningsEntries: {
      entries: {
        /** Format: uuid */
        id: string
        /** Format: date-time */
        at: string
        /** @enum {string} */
        kind: 'sale' | 'royalty' | 'refund' | 'chargeback' | 'calls' | 'payout' | 'payout_returned' | 'debt_repaid'
        package: string | null
        /** Format: uuid */
        order: string | null
        gross_minor: number
        fee_minor: number
        royalty_minor: number
        net_minor: number
        currency: string
      }[]
      next_cursor: string | null
    }
    EarningsDays: {
      account: string
      currency: string
      days: {
        /** Format: date */
        day: string
        orders: number
        sales_minor: number
        net_minor: number
      }[]
    }
    SpendCapList: {
      caps: components['schemas']['SpendCap'][]
    }
    SpendCap: {
      /** Format: uuid */
      id: string
      account: string
      token: {
        id: string
        name: string
      } | null
      /** @enum {string} */
      period: 'day' | 'month' | 'total'
      amount_minor: number
      spent_minor: number
    }
  }
  responses: never
  parameters: never
  requestBodies: never
  headers: never
  pathItems: never
}
export type $defs = Record<string, never>
export interface operations {
  health: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description It does. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Health']
        }
      }
    }
  }
  readiness: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description It can. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Readiness']
        }
      }
      /** @description A part does not answer, or it is closing. */
      503: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Readiness']
        }
      }
    }
  }
  postAccounts: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          username: string
          /** Format: email */
          email: string
          password: string
        }
      }
    }
    responses: {
      /** @description The account. */
      201: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Account']
        }
      }
      /** @description `name_taken`: A name is taken, or too easily mistaken for one that is. `email_taken`: Another account has this e-mail address. */
      409: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `name_invalid`: A name breaks the rules for names, or is reserved. `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `rate_limited`: Too many requests of one kind; `retry_after_seconds` says how long to wait. */
      429: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getAccount: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description Whoever the token or session belongs to. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['OwnAccount']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  putAccountPassword: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          current_password: string
          password: string
        }
      }
    }
    responses: {
      /** @description The password is changed. */
      204: {
        headers: {
          [name: string]: unknown
        }
        content?: never
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. `credentials_invalid`: Username or password is wrong. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `rate_limited`: Too many requests of one kind; `retry_after_seconds` says how long to wait. */
      429: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  postAccountVerificationMail: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description On its way, unless the address is confirmed already. */
      202: {
        headers: {
          [name: string]: unknown
        }
        content?: never
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `rate_limited`: Too many requests of one kind; `retry_after_seconds` says how long to wait. */
      429: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  listSessions: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description All sessions. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': {
            sessions: {
              id: string
              current: boolean
              /** Format: date-time */
              created_at: string
              /** Format: date-time */
              expires_at: string
            }[]
          }
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  postSessions: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          username: string
          password: string
        }
      }
    }
    responses: {
      /** @description Logged in. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Session']
        }
      }
      /** @description `credentials_invalid`: Username or password is wrong. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `rate_limited`: Too many requests of one kind; `retry_after_seconds` says how long to wait. */
      429: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  deleteSessionsCurrent: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The session is over. */
      204: {
        headers: {
          [name: string]: unknown
        }
        content?: never
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  endSession: {
    parameters: {
      query?: never
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description It is over, or was before. */
      204: {
        headers: {
          [name: string]: unknown
        }
        content?: never
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getTokens: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description Those not revoked. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': {
            tokens: components['schemas']['Token'][]
          }
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  postTokens: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          name: string
          scopes: (
            | 'packages:read'
            | 'packages:publish'
            | 'packages:manage'
            | 'account:manage'
            | 'training:start'
            | 'training:view'
            | 'training:cancel'
            | 'training:evaluate'
            | 'data:export'
            | 'agents:call'
            | 'market:buy'
            | 'market:sell'
            | 'worker'
          )[]
          expires_in_days?: number
        }
      }
    }
    responses: {
      /** @description The token. */
      201: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['CreatedToken']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `rate_limited`: Too many requests of one kind; `retry_after_seconds` says how long to wait. */
      429: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  deleteTokensById: {
    parameters: {
      query?: never
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description It is worth nothing from now on. */
      204: {
        headers: {
          [name: string]: unknown
        }
        content?: never
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `token_not_found`: The account has no such token. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  postOrganisations: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          username: string
          display_name?: string
        }
      }
    }
    responses: {
      /** @description The organisation. */
      201: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Organisation']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `name_taken`: A name is taken, or too easily mistaken for one that is. */
      409: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `name_invalid`: A name breaks the rules for names, or is reserved. `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `rate_limited`: Too many requests of one kind; `retry_after_seconds` says how long to wait. */
      429: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getOrganisationsByOrganisation: {
    parameters: {
      query?: never
      header?: never
      path: {
        organisation: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The organisation. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Organisation']
        }
      }
      /** @description `account_not_found`: There is no user or organisation of that name. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  putOrganisationsByOrganisationMembersByUsername: {
    parameters: {
      query?: never
      header?: never
      path: {
        organisation: string
        username: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** @enum {string} */
          role: 'owner' | 'admin' | 'member' | 'viewer'
        }
      }
    }
    responses: {
      /** @description The member. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Member']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `account_not_found`: There is no user or organisation of that name. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `last_owner`: An organisation keeps at least one owner. */
      409: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  deleteOrganisationsByOrganisationMembersByUsername: {
    parameters: {
      query?: never
      header?: never
      path: {
        organisation: string
        username: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description No member any more. */
      204: {
        headers: {
          [name: string]: unknown
        }
        content?: never
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `account_not_found`: There is no user or organisation of that name. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `last_owner`: An organisation keeps at least one owner. */
      409: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  postEmailVerifications: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          token: string
        }
      }
    }
    responses: {
      /** @description The address is confirmed. */
      204: {
        headers: {
          [name: string]: unknown
        }
        content?: never
      }
      /** @description `link_invalid`: A link from a mail is unknown, used or expired. */
      400: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `rate_limited`: Too many requests of one kind; `retry_after_seconds` says how long to wait. */
      429: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  postPasswordResets: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** Format: email */
          email: string
        }
      }
    }
    responses: {
      /** @description If an account has the address, a mail is on its way. */
      202: {
        headers: {
          [name: string]: unknown
        }
        content?: never
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `rate_limited`: Too many requests of one kind; `retry_after_seconds` says how long to wait. */
      429: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  putPasswordResetsByToken: {
    parameters: {
      query?: never
      header?: never
      path: {
        token: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          password: string
        }
      }
    }
    responses: {
      /** @description The password is set: log in with it. */
      204: {
        headers: {
          [name: string]: unknown
        }
        content?: never
      }
      /** @description `link_invalid`: A link from a mail is unknown, used or expired. */
      400: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `rate_limited`: Too many requests of one kind; `retry_after_seconds` says how long to wait. */
      429: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  postDeviceCodes: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          name: string
          scopes: (
            | 'packages:read'
            | 'packages:publish'
            | 'packages:manage'
            | 'account:manage'
            | 'training:start'
            | 'training:view'
            | 'training:cancel'
            | 'training:evaluate'
            | 'data:export'
            | 'agents:call'
            | 'market:buy'
            | 'market:sell'
            | 'worker'
          )[]
        }
      }
    }
    responses: {
      /** @description The codes. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['DeviceCode']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `rate_limited`: Too many requests of one kind; `retry_after_seconds` says how long to wait. */
      429: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  postDeviceCodesToken: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          device_code: string
        }
      }
    }
    responses: {
      /** @description The token, once. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['DeviceToken']
        }
      }
      /** @description `authorization_pending`: The log-in has not been approved in the browser yet. `slow_down`: The client asks more often than every `interval` seconds. `access_denied`: The log-in was refused in the browser. `expired_token`: The device code is unknown, used or expired: start the log-in again. */
      400: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getOauthByProvider: {
    parameters: {
      query?: {
        return_to?: string
      }
      header?: never
      path: {
        provider: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description To the provider. */
      302: {
        headers: {
          [name: string]: unknown
        }
        content?: never
      }
      /** @description `oauth_not_configured`: This server does not offer log-in through that provider. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getOauthByProviderCallback: {
    parameters: {
      query?: {
        code?: string
        state?: string
      }
      header?: never
      path: {
        provider: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description Logged in; to `return_to`. */
      302: {
        headers: {
          [name: string]: unknown
        }
        content?: never
      }
      /** @description `oauth_failed`: The log-in through another provider did not succeed. */
      400: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `oauth_not_configured`: This server does not offer log-in through that provider. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  listAudit: {
    parameters: {
      query?: {
        /** @description Username of whoever did it. */
        actor?: string
        /** @description `token.revoke`, or the beginning: `token.`. */
        action?: string
        /** @description What it was done to, whole: `account:acme`. */
        subject?: string
        limit?: number
        /** @description `next_before` of the page before. */
        before?: number
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description One page. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['AuditList']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  searchPackages: {
    parameters: {
      query?: {
        /** @description Words; the last one may be a beginning. A name is found with and without its scope. */
        q?: string
        kind?: 'scenario' | 'agent'
        category?: string
        difficulty?: 'beginner' | 'intermediate' | 'advanced' | 'expert'
        algorithm?: string
        price?: 'free' | 'paid'
        /** @description Without words in `q`, `relevance` is the same as `downloads`. */
        sort?: 'relevance' | 'downloads' | 'newest' | 'quality'
        /** @description `next_cursor` of the page before; `q`, filters and `sort` stay as they were. */
        cursor?: string
        limit?: number
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description One page. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['PackageList']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getPackage: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description The owner, with its @. */
        scope: string
        name: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The package. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['PackagePage']
        }
      }
      /** @description `package_not_found`: There is no such package, or it is private and not yours to see. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getPackageView: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description The owner, with its @. */
        scope: string
        name: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The package. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['PackageView']
        }
      }
      /** @description `package_not_found`: There is no such package, or it is private and not yours to see. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getReadme: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description The owner, with its @. */
        scope: string
        name: string
        version: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The README. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['VersionReadme']
          'text/html': string
        }
      }
      /** @description `package_not_found`: There is no such package, or it is private and not yours to see. `version_not_found`: The package has no such version, or none that fits the tag or range. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `package_taken_down`: The package was taken down by the operators of the server. */
      410: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getReadmePicture: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description The owner, with its @. */
        scope: string
        name: string
        version: string
        /** @description SHA-256 (hex) of the picture. */
        hash: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The picture. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'image/png': string
          'image/jpeg': string
          'image/gif': string
          'image/webp': string
        }
      }
      /** @description As it was. */
      304: {
        headers: {
          [name: string]: unknown
        }
        content?: never
      }
      /** @description `package_not_found`: There is no such package, or it is private and not yours to see. `version_not_found`: The package has no such version, or none that fits the tag or range. `picture_not_found`: The README of the version shows no such picture. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `package_taken_down`: The package was taken down by the operators of the server. */
      410: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getChanges: {
    parameters: {
      query?: {
        /** @description Only of versions that were uploaded before this one. */
        before?: string
        limit?: number
      }
      header?: never
      path: {
        /** @description The owner, with its @. */
        scope: string
        name: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description Newest upload first. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['ChangeList']
        }
      }
      /** @description `package_not_found`: There is no such package, or it is private and not yours to see. `version_not_found`: The package has no such version, or none that fits the tag or range. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `package_taken_down`: The package was taken down by the operators of the server. */
      410: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getSampleEpisode: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description The owner, with its @. */
        scope: string
        name: string
        version: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The episode. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['SampleEpisode']
        }
      }
      /** @description `package_not_found`: There is no such package, or it is private and not yours to see. `version_not_found`: The package has no such version, or none that fits the tag or range. `sample_episode_not_found`: Nobody has written down an episode of the version. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getPublisher: {
    parameters: {
      query?: never
      header?: never
      path: {
        username: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The account. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Publisher']
        }
      }
      /** @description `account_not_found`: There is no user or organisation of that name. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getDependents: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description The owner, with its @. */
        scope: string
        name: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description As far as you may know of them. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Dependents']
        }
      }
      /** @description `package_not_found`: There is no such package, or it is private and not yours to see. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `package_taken_down`: The package was taken down by the operators of the server. */
      410: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getPackagesByScopeByNameVersionsByVersion: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description The owner, with its @. */
        scope: string
        name: string
        version: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The version. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['VersionDetails']
        }
      }
      /** @description `package_not_found`: There is no such package, or it is private and not yours to see. `version_not_found`: The package has no such version, or none that fits the tag or range. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `package_taken_down`: The package was taken down by the operators of the server. */
      410: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  putPackagesByScopeByNameVersionsByVersion: {
    parameters: {
      query?: {
        /** @description Tag that the version gets once it is published. Left out, a stable version above `latest` becomes it, and any other gets a tag of its own kind. */
        tag?: string
        /** @description Of a new package; public unless told. */
        visibility?: 'public' | 'private'
      }
      header?: never
      path: {
        /** @description The owner, with its @. */
        scope: string
        name: string
        version: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/octet-stream': string
      }
    }
    responses: {
      /** @description Uploaded before, and decided. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['PublishedVersion']
        }
      }
      /** @description Taken; the checks are under way. */
      202: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['PublishedVersion']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `name_taken`: A name is taken, or too easily mistaken for one that is. `version_exists`: The version has been published before; its number is spent, whatever became of it. `package_kind_changed`: A package stays what it is, scenario or agent. */
      409: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `tarball_too_large`: The uploaded tarball is larger than the server takes. `tarball_unpacked_too_large`: The files are larger, unpacked, than the server takes. */
      413: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `name_invalid`: A name breaks the rules for names, or is reserved. `version_invalid`: A version is not a strict semantic version. `tag_invalid`: A tag breaks the rules for tags. `manifest_invalid`: A package.json or agent.json is missing or does not match its schema. `agent_invalid`: An agent package is incomplete or its model does not match its manifest. `tarball_not_gzip`: What was uploaded is not a gzip file. `tarball_truncated`: The tarball ends before its end. `tarball_corrupt`: The tarball is damaged: a checksum, a header or the compression does not add up. `tarball_trailing_data`: Something follows the end of the archive. `tarball_ratio_too_high`: The tarball unpacks to implausibly many times its size. `tarball_too_many_files`: The tarball holds more files than the server takes. `tarball_entry_unsupported`: The tarball uses a part of the tar format that clients read differently. `tarball_link`: The tarball holds a symbolic or hard link. `tarball_special_file`: The tarball holds a device, a FIFO or another special file. `tarball_path_too_long`: A path in the tarball is longer than the server takes. `tarball_path_encoding`: A path in the tarball is not valid UTF-8. `tarball_path_nul`: A path in the tarball holds a NUL byte. `tarball_path_backslash`: A path in the tarball holds a backslash. `tarball_path_absolute`: A path in the tarball is absolute. `tarball_path_traversal`: A path in the tarball has a segment `..`, `.` or an empty one. `tarball_path_outside_package`: A path in the tarball does not lie in `package/`. `tarball_path_not_portable`: A path in the tarball cannot exist on every system. `tarball_path_duplicate`: A path occurs twice in the tarball. `tarball_path_collision`: Two paths in the tarball are one on some systems. `package_manifest_missing`: The tarball holds no `package/package.json`. `package_manifest_too_large`: The package.json is larger than the server takes. `package_manifest_not_json`: The package.json is not a JSON object in UTF-8. `package_manifest_duplicate_key`: A key occurs twice in one object of the package.json. `package_manifest_forbidden_key`: The package.json has a key that endangers those who read it. `package_manifest_mismatch`: What the upload says about the package differs from the package.json inside the tarball. `package_name_mismatch`: The name in package.json is not the one that is published to. `package_version_mismatch`: The version in package.json is not the one that is published. `package_license_missing`: The package.json has no licence. `package_readme_missing`: The package has no README. `package_readme_invalid`: The README is too large or not UTF-8. `package_install_script`: The package has a script that would run while it is installed. `package_executable`: The package installs commands (`bin`). `package_native_code`: The package holds or builds native code. `package_dependency_forbidden`: A dependency does not come from a registry by a version range. `package_dependencies_bundled`: The package carries its dependencies as files. `package_marked_private`: The package.json says `private: true`. `package_bundle_missing`: The scenario's `dist/scenario.js` is not in the tarball. `model_too_large`: The model has more bytes than are taken. `model_truncated`: The model ends within a field. `model_malformed`: The model is not a serialised ONNX model. `model_field_unknown`: The model has a field that ONNX does not have. `model_field_duplicate`: A field of the model that may stand once stands twice. `model_part_forbidden`: The model has a part that no policy needs, such as sparse or quantised tensors or instructions for training. `model_external_data`: A tensor's numbers lie in another file or in memory. `model_subgraph_forbidden`: A node holds a graph of its own, as loops and branches do. `model_function_forbidden`: The model defines or uses functions. `model_domain_forbidden`: The model uses operators that are not ONNX's own. `model_opset_unsupported`: The version of the model's operators or of its format is not taken. `model_operator_forbidden`: The model uses an operator that is not on the list. `model_attribute_invalid`: An attribute of a node is unknown, of the wrong kind, or has a value that is not taken. `model_too_many_parts`: The model has more nodes, tensors, dimensions or names in a list than are taken. `model_nesting_too_deep`: The model has a longer chain of nodes than is taken. `model_string_too_long`: A text in the model is longer than is taken. `model_name_invalid`: A name in the model is empty, not UTF-8 or has control characters. `model_name_duplicate`: A name in the model is given twice. `model_name_undefined`: A node reads what nothing before it gives. `model_type_unsupported`: A tensor has an element type that policies do not use there. `model_shape_invalid`: A dimension is not above zero, or shapes do not fit an operator. `model_shape_mismatch`: A shape that the model declares is not the one that its nodes make. `model_batch_mixed`: The rows of a batch are not kept apart. `model_tensor_size_mismatch`: A tensor has not the numbers that its dimensions say. `model_weights_not_finite`: A weight is infinite or not a number. `model_static_size`: A size is not a constant of the file, or not small. `model_intermediate_too_large`: A value between two nodes is larger than is taken. `model_work_too_large`: The model takes more work a row than is taken. `model_input_mismatch`: The model's inputs are not those of its policy. `model_output_mismatch`: The model's outputs are not those of its policy. `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `rate_limited`: Too many requests of one kind; `retry_after_seconds` says how long to wait. */
      429: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getPackagesByScopeByNameVersions: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description The owner, with its @. */
        scope: string
        name: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description Newest first. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['VersionList']
        }
      }
      /** @description `package_not_found`: There is no such package, or it is private and not yours to see. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `package_taken_down`: The package was taken down by the operators of the server. */
      410: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getPackagesByScopeByNameResolve: {
    parameters: {
      query?: {
        /** @description A tag, a range or an exact version, as npm takes them: `latest`, `^1.2.0`, `1.2.3`. */
        range?: string
      }
      header?: never
      path: {
        /** @description The owner, with its @. */
        scope: string
        name: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description What to install. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['ResolvedVersion']
        }
      }
      /** @description `package_not_found`: There is no such package, or it is private and not yours to see. `version_not_found`: The package has no such version, or none that fits the tag or range. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `package_taken_down`: The package was taken down by the operators of the server. */
      410: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getPackagesByScopeByNameTags: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description The owner, with its @. */
        scope: string
        name: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The tags. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['TagList']
        }
      }
      /** @description `package_not_found`: There is no such package, or it is private and not yours to see. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `package_taken_down`: The package was taken down by the operators of the server. */
      410: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  putPackagesByScopeByNameTagsByTag: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description The owner, with its @. */
        scope: string
        name: string
        tag: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          version: string
        }
      }
    }
    responses: {
      /** @description Done. */
      204: {
        headers: {
          [name: string]: unknown
        }
        content?: never
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `package_not_found`: There is no such package, or it is private and not yours to see. `version_not_found`: The package has no such version, or none that fits the tag or range. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `version_not_published`: The version is still being checked, or was rejected. `version_yanked`: The version is yanked. */
      409: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `package_taken_down`: The package was taken down by the operators of the server. */
      410: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `tag_invalid`: A tag breaks the rules for tags. `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  deletePackagesByScopeByNameTagsByTag: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description The owner, with its @. */
        scope: string
        name: string
        tag: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description Done. */
      204: {
        headers: {
          [name: string]: unknown
        }
        content?: never
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `package_not_found`: There is no such package, or it is private and not yours to see. `tag_not_found`: The package has no such tag. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `tag_protected`: The tag `latest` cannot be removed. */
      409: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `package_taken_down`: The package was taken down by the operators of the server. */
      410: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  putPackagesByScopeByNameVersionsByVersionDeprecation: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description The owner, with its @. */
        scope: string
        name: string
        version: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** @description What to tell those who install the version; empty takes it back. */
          message: string
        }
      }
    }
    responses: {
      /** @description Done. */
      204: {
        headers: {
          [name: string]: unknown
        }
        content?: never
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `package_not_found`: There is no such package, or it is private and not yours to see. `version_not_found`: The package has no such version, or none that fits the tag or range. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `package_taken_down`: The package was taken down by the operators of the server. */
      410: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  putPackagesByScopeByNameVersionsByVersionYank: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description The owner, with its @. */
        scope: string
        name: string
        version: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description Done. */
      204: {
        headers: {
          [name: string]: unknown
        }
        content?: never
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `package_not_found`: There is no such package, or it is private and not yours to see. `version_not_found`: The package has no such version, or none that fits the tag or range. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `version_not_published`: The version is still being checked, or was rejected. */
      409: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `package_taken_down`: The package was taken down by the operators of the server. */
      410: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  deletePackagesByScopeByNameVersionsByVersionYank: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description The owner, with its @. */
        scope: string
        name: string
        version: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description Done. */
      204: {
        headers: {
          [name: string]: unknown
        }
        content?: never
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `package_not_found`: There is no such package, or it is private and not yours to see. `version_not_found`: The package has no such version, or none that fits the tag or range. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `version_not_published`: The version is still being checked, or was rejected. */
      409: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `package_taken_down`: The package was taken down by the operators of the server. */
      410: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  postJobsLease: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          kinds: ('check' | 'evaluate' | 'train')[]
          worker?: {
            /** Format: uuid */
            id: string
            name: string
            cores: number
            memory_bytes: number
            gpus: {
              name: string
              memory_bytes: number
            }[]
            slots: number
            price_minor_per_hour: number
            usage: {
              cpu: number | null
              memory: number | null
              gpu: number | null
            }
          }
        }
      }
    }
    responses: {
      /** @description A job. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['LeasedJob']
        }
      }
      /** @description There is nothing to do. */
      204: {
        headers: {
          [name: string]: unknown
        }
        content?: never
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  postJobsByIdHeartbeat: {
    parameters: {
      query?: never
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          lease: string
          usage?: {
            cpu: number | null
            memory: number | null
            gpu: number | null
          }
        }
      }
    }
    responses: {
      /** @description The lease goes on. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** Format: date-time */
            expires_at: string
            /** @enum {string|null} */
            stop: 'cancel' | 'budget' | null
          }
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `lease_lost`: A job has gone to another worker, or is over. */
      409: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  postJobsByIdRelease: {
    parameters: {
      query?: never
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          lease: string
          metered_ms?: number
          reason: string
        }
      }
    }
    responses: {
      /** @description It waits for another worker. */
      204: {
        headers: {
          [name: string]: unknown
        }
        content?: never
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `lease_lost`: A job has gone to another worker, or is over. */
      409: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  postJobsByIdResult: {
    parameters: {
      query?: never
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          lease: string
          report: {
            ok: boolean
            name: string
            version: string
            checks: {
              id: string
              ok: boolean
              message: string
            }[]
          }
          sample_episode?: components['schemas']['SampleEpisode'] & (Record<string, never> | null)
        }
      }
    }
    responses: {
      /** @description Taken. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {string} */
            state: 'published' | 'rejected'
          }
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `lease_lost`: A job has gone to another worker, or is over. */
      409: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getJobsByIdTarball: {
    parameters: {
      query: {
        lease: string
      }
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The tarball. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/octet-stream': string
        }
      }
      /** @description `lease_lost`: A job has gone to another worker, or is over. */
      409: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  listRuns: {
    parameters: {
      query?: {
        state?: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled' | 'budget_exceeded'
        /** @description Name of a scenario. */
        scenario?: string
        /** @description Of this account; all of yours unless told. */
        account?: string
        limit?: number
        cursor?: string
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description One page. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['RunList']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `account_not_found`: There is no user or organisation of that name. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  startRun: {
    parameters: {
      query?: never
      header?: {
        /** @description Repeating a request under its key gives the run that the first one made. */
        'idempotency-key'?: string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** @description `@acme/cart-pole`, or with a version, range or tag: `@acme/cart-pole@^1.0.0`. */
          scenario: string
          /** @description The scenario's own unless told: `ppo`, `grpo`. */
          algorithm?: string
          /** @description Environment steps in all. */
          steps?: number
          /** @default 1 */
          seed?: number
          /**
           * @description By their names, as `agentgym train --set`.
           * @default {}
           */
          settings?: {
            [key: string]: number | boolean | null | string | (number | boolean | null | string)[]
          }
          /** @description Most that the run may cost, in minor units of the server's currency. No limit where it is left out. */
          budget_minor?: number
          /** @description Of a scenario that is paid for by the run: its price as you were shown it. Held until the run trains. */
          expected_price?: {
            /** Format: uuid */
            id?: string
            amount_minor: number
          }
          publish?: {
            name: string
            /** @description The next patch version unless told. */
            version?: string
            /** @enum {string} */
            visibility?: 'public' | 'private'
          }
          /**
           * @description Iterations between sampled trajectories; 0 for none.
           * @default 0
           */
          trajectories_every?: number
          /** @description Organisation to run for; you yourself unless told. */
          account?: string
          note?: string
        }
      }
    }
    responses: {
      /** @description Queued. */
      201: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Run']
        }
      }
      /** @description `config_invalid`: A setting is unknown, has the wrong type or lies outside its range. */
      400: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `payment_required`: A licence has to be bought first, or the price of a run confirmed. `insufficient_funds`: The balance does not hold what it costs. `spend_cap_exceeded`: A spend cap of the account or of the token leaves too little, or it costs more than `--max`. */
      402: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `account_not_found`: There is no user or organisation of that name. `package_not_found`: There is no such package, or it is private and not yours to see. `version_not_found`: The package has no such version, or none that fits the tag or range. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `version_not_published`: The version is still being checked, or was rejected. `version_yanked`: The version is yanked. `idempotency_key_reused`: An Idempotency-Key came with another request than the first time. `name_taken`: A name is taken, or too easily mistaken for one that is. `version_exists`: The version has been published before; its number is spent, whatever became of it. `package_kind_changed`: A package stays what it is, scenario or agent. `package_visibility_fixed`: The package exists with the other visibility. `price_changed`: The price is another one than the buyer was shown; nothing was bought. */
      409: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `package_taken_down`: The package was taken down by the operators of the server. */
      410: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `name_invalid`: A name breaks the rules for names, or is reserved. `version_invalid`: A version is not a strict semantic version. `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `rate_limited`: Too many requests of one kind; `retry_after_seconds` says how long to wait. */
      429: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getRun: {
    parameters: {
      query?: never
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The run. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Run']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `run_not_found`: There is no such run, or it is not yours to see. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  cancelRun: {
    parameters: {
      query?: never
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description Cancelled, or about to be. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Run']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `run_not_found`: There is no such run, or it is not yours to see. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `run_state_conflict`: The run is not in a state in which that can be done. */
      409: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  resumeRun: {
    parameters: {
      query?: never
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** @description The new limit on the whole run, above what it has spent. */
          budget_minor: number
        }
      }
    }
    responses: {
      /** @description Queued again. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Run']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `payment_required`: A licence has to be bought first, or the price of a run confirmed. `insufficient_funds`: The balance does not hold what it costs. `spend_cap_exceeded`: A spend cap of the account or of the token leaves too little, or it costs more than `--max`. */
      402: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `run_not_found`: There is no such run, or it is not yours to see. `package_not_found`: There is no such package, or it is private and not yours to see. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `run_state_conflict`: The run is not in a state in which that can be done. `price_changed`: The price is another one than the buyer was shown; nothing was bought. */
      409: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `package_taken_down`: The package was taken down by the operators of the server. */
      410: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `rate_limited`: Too many requests of one kind; `retry_after_seconds` says how long to wait. */
      429: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  evaluateRun: {
    parameters: {
      query?: never
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** @default 100 */
          episodes?: number
          /** @default 0 */
          seed?: number
        }
      }
    }
    responses: {
      /** @description Queued. */
      202: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['EvaluationJob']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `run_not_found`: There is no such run, or it is not yours to see. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `run_has_no_agent`: The run has not come to a trained agent. */
      409: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `rate_limited`: Too many requests of one kind; `retry_after_seconds` says how long to wait. */
      429: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  publishRun: {
    parameters: {
      query?: never
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** @description `@scope/name`. */
          name: string
          /** @description The next patch version unless told. */
          version?: string
          /**
           * @description Of a new package; public unless told.
           * @enum {string}
           */
          visibility?: 'public' | 'private'
        }
      }
    }
    responses: {
      /** @description Taken; `GET` the version to see what becomes of it. */
      202: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['PublishedVersion']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `run_not_found`: There is no such run, or it is not yours to see. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `run_has_no_agent`: The run has not come to a trained agent. `name_taken`: A name is taken, or too easily mistaken for one that is. `version_exists`: The version has been published before; its number is spent, whatever became of it. `package_kind_changed`: A package stays what it is, scenario or agent. `package_visibility_fixed`: The package exists with the other visibility. */
      409: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `name_invalid`: A name breaks the rules for names, or is reserved. `version_invalid`: A version is not a strict semantic version. `agent_invalid`: An agent package is incomplete or its model does not match its manifest. `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `rate_limited`: Too many requests of one kind; `retry_after_seconds` says how long to wait. */
      429: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getEvaluation: {
    parameters: {
      query?: never
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The evaluation. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['EvaluationJob']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `evaluation_not_found`: There is no such evaluation, or it is not yours to see. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getStatus: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description Now. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['ServerStatus']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  watchRun: {
    parameters: {
      query?: {
        /** @description `seq` of the last event seen. */
        after?: number | null
      }
      header?: {
        /** @description What `EventSource` sends when it connects again. Comes before `after`. */
        'last-event-id'?: string
      }
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The events. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'text/event-stream': components['schemas']['RunEvent']
        }
      }
      /** @description The run is over, and you have all of it. */
      204: {
        headers: {
          [name: string]: unknown
        }
        content?: never
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `run_not_found`: There is no such run, or it is not yours to see. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getMetrics: {
    parameters: {
      query?: {
        after_iteration?: number | null
        limit?: number
      }
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description In order, each iteration once. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['RunMetrics']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `run_not_found`: There is no such run, or it is not yours to see. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getMetricsAsCsv: {
    parameters: {
      query?: never
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description One line an iteration; a mean over no episode is empty. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'text/csv': string
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `run_not_found`: There is no such run, or it is not yours to see. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getMetricsForTensorBoard: {
    parameters: {
      query?: never
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description Scalars by step. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/octet-stream': string
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `run_not_found`: There is no such run, or it is not yours to see. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  listCheckpoints: {
    parameters: {
      query?: never
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description Latest first. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': {
            checkpoints: {
              iteration: number
              steps: number
              size: number
              sha256: string
              /** Format: date-time */
              created_at: string
              url: string
            }[]
          }
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `run_not_found`: There is no such run, or it is not yours to see. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getCheckpoint: {
    parameters: {
      query?: never
      header?: never
      path: {
        id: string
        iteration: number
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description Its bytes. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/octet-stream': string
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `run_not_found`: There is no such run, or it is not yours to see. `checkpoint_not_found`: The run has no such checkpoint, or it is no longer kept. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getAgent: {
    parameters: {
      query?: never
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description A tarball, as `npm pack` makes it. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/octet-stream': string
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `run_not_found`: There is no such run, or it is not yours to see. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `run_has_no_agent`: The run has not come to a trained agent. */
      409: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  exportTrajectories: {
    parameters: {
      query?: never
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description One episode a line. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/x-ndjson': string
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `run_not_found`: There is no such run, or it is not yours to see. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  callRpc: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': components['schemas']['RpcRequest'] | components['schemas']['RpcRequest'][]
      }
    }
    responses: {
      /** @description The answer, or those of a batch, in the order of its requests. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['RpcResponse'] | components['schemas']['RpcResponse'][]
        }
      }
      /** @description Notifications only: there is nothing to answer. */
      204: {
        headers: {
          [name: string]: unknown
        }
        content?: never
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_too_large`: The body of a request is larger than the server takes. */
      413: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description The body is not application/json. */
      415: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['RpcResponse']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  postJobsByIdProgress: {
    parameters: {
      query?: never
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          lease: string
          points: {
            /** @enum {string} */
            event: 'progress'
            iteration: number
            steps: number
            steps_total: number
            steps_per_second: number
            seconds: number
            collect_seconds: number
            update_seconds: number
            episodes: number
            episodes_total: number
            return_mean: number | null
            length_mean: number | null
            metrics: {
              [key: string]: number
            }
            learner: {
              policy_loss: number | null
              value_loss: number | null
              entropy: number | null
              approximate_kl: number | null
              clip_fraction: number | null
              explained_variance: number | null
              kl_to_reference: number | null
              zero_variance_groups: number | null
              gradient_norm: number | null
              learning_rate: number | null
            }
          }[]
          /** @default [] */
          evaluations?: {
            iteration: number
            steps: number
            evaluation: {
              scenario: string
              episodes: number
              seed: number
              return_mean: number | null
              return_std: number | null
              length_mean: number | null
              metrics: {
                [key: string]: number
              }
              success: {
                ok: boolean | null
                criteria: {
                  metric: string
                  target: number
                  value: number | null
                  ok: boolean
                }[]
              }
              trajectory_hash: string
            }
          }[]
          metered_ms: number
          usage?: {
            cpu: number | null
            memory: number | null
            gpu: number | null
          }
        }
      }
    }
    responses: {
      /** @description Taken; the lease goes on. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** Format: date-time */
            expires_at: string
            /** @enum {string|null} */
            stop: 'cancel' | 'budget' | null
          }
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `lease_lost`: A job has gone to another worker, or is over. */
      409: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getJobsByIdCheckpoint: {
    parameters: {
      query: {
        lease: string
        iteration?: number | null
      }
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description Its bytes. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/octet-stream': string
        }
      }
      /** @description `lease_lost`: A job has gone to another worker, or is over. */
      409: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  putJobsByIdCheckpoint: {
    parameters: {
      query: {
        lease: string
        iteration?: number | null
        steps?: number | null
        seconds?: number | null
        metered_ms?: number | null
        sha256: string
      }
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/octet-stream': string
      }
    }
    responses: {
      /** @description Taken; the lease goes on. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** Format: date-time */
            expires_at: string
            /** @enum {string|null} */
            stop: 'cancel' | 'budget' | null
          }
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `lease_lost`: A job has gone to another worker, or is over. */
      409: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_too_large`: The body of a request is larger than the server takes. */
      413: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  postJobsByIdTrajectories: {
    parameters: {
      query?: never
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          lease: string
          trajectories: {
            iteration: number
            environment: number
            return: number
            length: number
            partial: boolean
            steps: {
              observation: number[]
              action: number[]
              reward: number
              log_probability: number
              terminated: boolean
              truncated: boolean
            }[]
          }[]
        }
      }
    }
    responses: {
      /** @description Taken. */
      204: {
        headers: {
          [name: string]: unknown
        }
        content?: never
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `lease_lost`: A job has gone to another worker, or is over. */
      409: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  putJobsByIdAgent: {
    parameters: {
      query: {
        lease: string
      }
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/octet-stream': string
      }
    }
    responses: {
      /** @description Taken. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': {
            integrity: string
          }
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `lease_lost`: A job has gone to another worker, or is over. */
      409: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  postJobsByIdOutcome: {
    parameters: {
      query?: never
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          lease: string
          metered_ms: number
          outcome:
            | {
                /** @enum {string} */
                state: 'completed'
                steps: number
                seconds: number
                evaluation: {
                  scenario: string
                  episodes: number
                  seed: number
                  return_mean: number | null
                  return_std: number | null
                  length_mean: number | null
                  metrics: {
                    [key: string]: number
                  }
                  success: {
                    ok: boolean | null
                    criteria: {
                      metric: string
                      target: number
                      value: number | null
                      ok: boolean
                    }[]
                  }
                  trajectory_hash: string
                }
                agent: {
                  integrity: string
                }
              }
            | {
                /** @enum {string} */
                state: 'failed'
                error: {
                  /** @enum {string} */
                  code:
                    | 'config_invalid'
                    | 'usage_invalid'
                    | 'file_not_found'
                    | 'manifest_invalid'
                    | 'agent_invalid'
                    | 'scenario_mismatch'
                    | 'checkpoint_invalid'
                    | 'execution_provider_unavailable'
                    | 'setup_incomplete'
                    | 'database_in_use'
                    | 'database_unavailable'
                    | 'database_incompatible'
                    | 'database_damaged'
                    | 'storage_unavailable'
                    | 'request_invalid'
                    | 'request_too_large'
                    | 'endpoint_not_found'
                    | 'scenario_invalid'
                    | 'scenario_build_failed'
                    | 'scenario_timeout'
                    | 'scenario_out_of_memory'
                    | 'scenario_crashed'
                    | 'scenario_threw'
                    | 'scenario_nondeterministic'
                    | 'reward_not_finite'
                    | 'observation_invalid'
                    | 'metrics_invalid'
                    | 'mask_invalid'
                    | 'no_legal_action'
                    | 'model_load_failed'
                    | 'model_run_failed'
                    | 'model_output_invalid'
                    | 'model_timeout'
                    | 'model_out_of_memory'
                    | 'model_crashed'
                    | 'training_diverged'
                    | 'training_failed'
                    | 'training_cancelled'
                    | 'run_not_found'
                    | 'run_state_conflict'
                    | 'run_has_no_agent'
                    | 'checkpoint_not_found'
                    | 'evaluation_not_found'
                    | 'budget_exceeded'
                    | 'worker_failed'
                    | 'verification_mismatch'
                    | 'signature_invalid'
                    | 'verification_missing'
                    | 'idempotency_key_reused'
                    | 'lease_lost'
                    | 'integrity_mismatch'
                    | 'server_unreachable'
                    | 'request_timeout'
                    | 'unauthenticated'
                    | 'credentials_invalid'
                    | 'forbidden'
                    | 'account_not_found'
                    | 'package_not_found'
                    | 'token_not_found'
                    | 'name_invalid'
                    | 'name_taken'
                    | 'email_taken'
                    | 'last_owner'
                    | 'link_invalid'
                    | 'rate_limited'
                    | 'authorization_pending'
                    | 'slow_down'
                    | 'access_denied'
                    | 'expired_token'
                    | 'oauth_not_configured'
                    | 'oauth_failed'
                    | 'tarball_too_large'
                    | 'tarball_not_gzip'
                    | 'tarball_truncated'
                    | 'tarball_corrupt'
                    | 'tarball_trailing_data'
                    | 'tarball_unpacked_too_large'
                    | 'tarball_ratio_too_high'
                    | 'tarball_too_many_files'
                    | 'tarball_entry_unsupported'
                    | 'tarball_link'
                    | 'tarball_special_file'
                    | 'tarball_path_too_long'
                    | 'tarball_path_encoding'
                    | 'tarball_path_nul'
                    | 'tarball_path_backslash'
                    | 'tarball_path_absolute'
                    | 'tarball_path_traversal'
                    | 'tarball_path_outside_package'
                    | 'tarball_path_not_portable'
                    | 'tarball_path_duplicate'
                    | 'tarball_path_collision'
                    | 'package_manifest_missing'
                    | 'package_manifest_too_large'
                    | 'package_manifest_not_json'
                    | 'package_manifest_duplicate_key'
                    | 'package_manifest_forbidden_key'
                    | 'package_manifest_mismatch'
                    | 'package_name_mismatch'
                    | 'package_version_mismatch'
                    | 'package_kind_changed'
                    | 'package_license_missing'
                    | 'package_readme_missing'
                    | 'package_readme_invalid'
                    | 'package_install_script'
                    | 'package_executable'
                    | 'package_native_code'
                    | 'package_dependency_forbidden'
                    | 'package_dependencies_bundled'
                    | 'package_marked_private'
                    | 'package_bundle_missing'
                    | 'model_too_large'
                    | 'model_truncated'
                    | 'model_malformed'
                    | 'model_field_unknown'
                    | 'model_field_duplicate'
                    | 'model_part_forbidden'
                    | 'model_external_data'
                    | 'model_subgraph_forbidden'
                    | 'model_function_forbidden'
                    | 'model_domain_forbidden'
                    | 'model_opset_unsupported'
                    | 'model_operator_forbidden'
                    | 'model_attribute_invalid'
                    | 'model_too_many_parts'
                    | 'model_nesting_too_deep'
                    | 'model_string_too_long'
                    | 'model_name_invalid'
                    | 'model_name_duplicate'
                    | 'model_name_undefined'
                    | 'model_type_unsupported'
                    | 'model_shape_invalid'
                    | 'model_shape_mismatch'
                    | 'model_batch_mixed'
                    | 'model_tensor_size_mismatch'
                    | 'model_weights_not_finite'
                    | 'model_static_size'
                    | 'model_intermediate_too_large'
                    | 'model_work_too_large'
                    | 'model_input_mismatch'
                    | 'model_output_mismatch'
                    | 'version_invalid'
                    | 'tag_invalid'
                    | 'version_exists'
                    | 'version_not_found'
                    | 'version_not_published'
                    | 'document_outdated'
                    | 'version_immutable'
                    | 'version_yanked'
                    | 'sample_episode_not_found'
                    | 'picture_not_found'
                    | 'tag_not_found'
                    | 'tag_protected'
                    | 'package_visibility_fixed'
                    | 'price_changed'
                    | 'not_for_sale'
                    | 'self_purchase'
                    | 'insufficient_funds'
                    | 'spend_cap_exceeded'
                    | 'spend_cap_not_found'
                    | 'order_not_found'
                    | 'order_state_conflict'
                    | 'refund_exceeds'
                    | 'refund_refused'
                    | 'payment_declined'
                    | 'payment_not_found'
                    | 'payment_provider_unavailable'
                    | 'webhook_signature_invalid'
                    | 'payout_not_ready'
                    | 'payout_below_cleared'
                    | 'money_needs_postgresql'
                    | 'review_not_allowed'
                    | 'review_not_found'
                    | 'report_not_found'
                    | 'moderation_state_conflict'
                    | 'trial_exhausted'
                    | 'agent_unavailable'
                    | 'agent_failed'
                    | 'package_taken_down'
                    | 'payment_required'
                    | 'hosted_only'
                    | 'object_damaged'
                    | 'internal_error'
                  message: string
                  hint?: string
                  data?: {
                    [key: string]: unknown
                  }
                }
              }
            | {
                /** @enum {string} */
                state: 'cancelled'
              }
            | {
                /** @enum {string} */
                state: 'budget_exceeded'
              }
        }
      }
    }
    responses: {
      /** @description It has ended. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {string} */
            state: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled' | 'budget_exceeded'
          }
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `lease_lost`: A job has gone to another worker, or is over. */
      409: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getJobsByIdScenario: {
    parameters: {
      query: {
        lease: string
      }
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The tarball. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/octet-stream': string
        }
      }
      /** @description `lease_lost`: A job has gone to another worker, or is over. */
      409: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  postJobsByIdEvaluation: {
    parameters: {
      query?: never
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          lease: string
          checks: {
            id: string
            ok: boolean
            message: string
          }[]
          output_hash: string | null
          results: {
            /** @enum {string} */
            id: 'claim' | 'held_out' | 'requested'
            evaluation: {
              scenario: string
              episodes: number
              seed: number
              return_mean: number | null
              return_std: number | null
              length_mean: number | null
              metrics: {
                [key: string]: number
              }
              success: {
                ok: boolean | null
                criteria: {
                  metric: string
                  target: number
                  value: number | null
                  ok: boolean
                }[]
              }
              trajectory_hash: string
            } | null
            error: {
              /** @enum {string} */
              code:
                | 'config_invalid'
                | 'usage_invalid'
                | 'file_not_found'
                | 'manifest_invalid'
                | 'agent_invalid'
                | 'scenario_mismatch'
                | 'checkpoint_invalid'
                | 'execution_provider_unavailable'
                | 'setup_incomplete'
                | 'database_in_use'
                | 'database_unavailable'
                | 'database_incompatible'
                | 'database_damaged'
                | 'storage_unavailable'
                | 'request_invalid'
                | 'request_too_large'
                | 'endpoint_not_found'
                | 'scenario_invalid'
                | 'scenario_build_failed'
                | 'scenario_timeout'
                | 'scenario_out_of_memory'
                | 'scenario_crashed'
                | 'scenario_threw'
                | 'scenario_nondeterministic'
                | 'reward_not_finite'
                | 'observation_invalid'
                | 'metrics_invalid'
                | 'mask_invalid'
                | 'no_legal_action'
                | 'model_load_failed'
                | 'model_run_failed'
                | 'model_output_invalid'
                | 'model_timeout'
                | 'model_out_of_memory'
                | 'model_crashed'
                | 'training_diverged'
                | 'training_failed'
                | 'training_cancelled'
                | 'run_not_found'
                | 'run_state_conflict'
                | 'run_has_no_agent'
                | 'checkpoint_not_found'
                | 'evaluation_not_found'
                | 'budget_exceeded'
                | 'worker_failed'
                | 'verification_mismatch'
                | 'signature_invalid'
                | 'verification_missing'
                | 'idempotency_key_reused'
                | 'lease_lost'
                | 'integrity_mismatch'
                | 'server_unreachable'
                | 'request_timeout'
                | 'unauthenticated'
                | 'credentials_invalid'
                | 'forbidden'
                | 'account_not_found'
                | 'package_not_found'
                | 'token_not_found'
                | 'name_invalid'
                | 'name_taken'
                | 'email_taken'
                | 'last_owner'
                | 'link_invalid'
                | 'rate_limited'
                | 'authorization_pending'
                | 'slow_down'
                | 'access_denied'
                | 'expired_token'
                | 'oauth_not_configured'
                | 'oauth_failed'
                | 'tarball_too_large'
                | 'tarball_not_gzip'
                | 'tarball_truncated'
                | 'tarball_corrupt'
                | 'tarball_trailing_data'
                | 'tarball_unpacked_too_large'
                | 'tarball_ratio_too_high'
                | 'tarball_too_many_files'
                | 'tarball_entry_unsupported'
                | 'tarball_link'
                | 'tarball_special_file'
                | 'tarball_path_too_long'
                | 'tarball_path_encoding'
                | 'tarball_path_nul'
                | 'tarball_path_backslash'
                | 'tarball_path_absolute'
                | 'tarball_path_traversal'
                | 'tarball_path_outside_package'
                | 'tarball_path_not_portable'
                | 'tarball_path_duplicate'
                | 'tarball_path_collision'
                | 'package_manifest_missing'
                | 'package_manifest_too_large'
                | 'package_manifest_not_json'
                | 'package_manifest_duplicate_key'
                | 'package_manifest_forbidden_key'
                | 'package_manifest_mismatch'
                | 'package_name_mismatch'
                | 'package_version_mismatch'
                | 'package_kind_changed'
                | 'package_license_missing'
                | 'package_readme_missing'
                | 'package_readme_invalid'
                | 'package_install_script'
                | 'package_executable'
                | 'package_native_code'
                | 'package_dependency_forbidden'
                | 'package_dependencies_bundled'
                | 'package_marked_private'
                | 'package_bundle_missing'
                | 'model_too_large'
                | 'model_truncated'
                | 'model_malformed'
                | 'model_field_unknown'
                | 'model_field_duplicate'
                | 'model_part_forbidden'
                | 'model_external_data'
                | 'model_subgraph_forbidden'
                | 'model_function_forbidden'
                | 'model_domain_forbidden'
                | 'model_opset_unsupported'
                | 'model_operator_forbidden'
                | 'model_attribute_invalid'
                | 'model_too_many_parts'
                | 'model_nesting_too_deep'
                | 'model_string_too_long'
                | 'model_name_invalid'
                | 'model_name_duplicate'
                | 'model_name_undefined'
                | 'model_type_unsupported'
                | 'model_shape_invalid'
                | 'model_shape_mismatch'
                | 'model_batch_mixed'
                | 'model_tensor_size_mismatch'
                | 'model_weights_not_finite'
                | 'model_static_size'
                | 'model_intermediate_too_large'
                | 'model_work_too_large'
                | 'model_input_mismatch'
                | 'model_output_mismatch'
                | 'version_invalid'
                | 'tag_invalid'
                | 'version_exists'
                | 'version_not_found'
                | 'version_not_published'
                | 'document_outdated'
                | 'version_immutable'
                | 'version_yanked'
                | 'sample_episode_not_found'
                | 'picture_not_found'
                | 'tag_not_found'
                | 'tag_protected'
                | 'package_visibility_fixed'
                | 'price_changed'
                | 'not_for_sale'
                | 'self_purchase'
                | 'insufficient_funds'
                | 'spend_cap_exceeded'
                | 'spend_cap_not_found'
                | 'order_not_found'
                | 'order_state_conflict'
                | 'refund_exceeds'
                | 'refund_refused'
                | 'payment_declined'
                | 'payment_not_found'
                | 'payment_provider_unavailable'
                | 'webhook_signature_invalid'
                | 'payout_not_ready'
                | 'payout_below_cleared'
                | 'money_needs_postgresql'
                | 'review_not_allowed'
                | 'review_not_found'
                | 'report_not_found'
                | 'moderation_state_conflict'
                | 'trial_exhausted'
                | 'agent_unavailable'
                | 'agent_failed'
                | 'package_taken_down'
                | 'payment_required'
                | 'hosted_only'
                | 'object_damaged'
                | 'internal_error'
              message: string
              hint?: string
              data?: {
                [key: string]: unknown
              }
            } | null
          }[]
          runtime: {
            [key: string]: string
          }
          sample_episode?: components['schemas']['SampleEpisode'] & (Record<string, never> | null)
        }
      }
    }
    responses: {
      /** @description Taken. */
      204: {
        headers: {
          [name: string]: unknown
        }
        content?: never
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `lease_lost`: A job has gone to another worker, or is over. */
      409: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getJobsByIdEvaluationByWhat: {
    parameters: {
      query: {
        lease: string
      }
      header?: never
      path: {
        id: string
        what: 'agent' | 'scenario'
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The tarball. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/octet-stream': string
        }
      }
      /** @description `lease_lost`: A job has gone to another worker, or is over. */
      409: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getKeys: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description Every key that ever signed, newest first. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['SigningKeys']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getPackagesByScopeByNameVersionsByVersionLeaderboard: {
    parameters: {
      query?: {
        /** @description Entries of a page. */
        limit?: number
        /** @description `next` of the page before. */
        cursor?: string
      }
      header?: never
      path: {
        /** @description The owner, with its @. */
        scope: string
        name: string
        version: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description Ranked by the return of episodes that nobody knew beforehand; one entry a package. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Leaderboard']
        }
      }
      /** @description `package_not_found`: There is no such package, or it is private and not yours to see. `version_not_found`: The package has no such version, or none that fits the tag or range. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `package_taken_down`: The package was taken down by the operators of the server. */
      410: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  postPackagesByScopeByNameVersionsByVersionVerification: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description The owner, with its @. */
        scope: string
        name: string
        version: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description A worker will run it. */
      202: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['EvaluationJob']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `package_not_found`: There is no such package, or it is private and not yours to see. `version_not_found`: The package has no such version, or none that fits the tag or range. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `version_not_published`: The version is still being checked, or was rejected. */
      409: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `rate_limited`: Too many requests of one kind; `retry_after_seconds` says how long to wait. */
      429: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getPackagesByScopeByNameReviews: {
    parameters: {
      query?: {
        limit?: number
        cursor?: string
      }
      header?: never
      path: {
        /** @description The owner, with its @. */
        scope: string
        name: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description One page. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['ReviewList']
        }
      }
      /** @description `package_not_found`: There is no such package, or it is private and not yours to see. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  putPackagesByScopeByNameReviews: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description The owner, with its @. */
        scope: string
        name: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          version: string
          stars: number
          text: string
        }
      }
    }
    responses: {
      /** @description Your review. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Review']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. `review_not_allowed`: A review is written by those who bought or used the package, and not anew where it was hidden. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `package_not_found`: There is no such package, or it is private and not yours to see. `version_not_found`: The package has no such version, or none that fits the tag or range. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `rate_limited`: Too many requests of one kind; `retry_after_seconds` says how long to wait. */
      429: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  deleteReviewsById: {
    parameters: {
      query?: never
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description Done. */
      204: {
        headers: {
          [name: string]: unknown
        }
        content?: never
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `review_not_found`: There is no such review that can be seen. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  putReviewsByIdReply: {
    parameters: {
      query?: never
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          text: string
        }
      }
    }
    responses: {
      /** @description The review with the reply. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Review']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `review_not_found`: There is no such review that can be seen. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  deleteReviewsByIdReply: {
    parameters: {
      query?: never
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description Done. */
      204: {
        headers: {
          [name: string]: unknown
        }
        content?: never
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `review_not_found`: There is no such review that can be seen. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getReports: {
    parameters: {
      query?: {
        state?: 'open' | 'dismissed' | 'upheld'
        limit?: number
        cursor?: string
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description One page. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['ReportList']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  postReports: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          package: string
          /**
           * Format: uuid
           * @description The report is about this review of the package.
           */
          review?: string
          /** @enum {string} */
          reason: 'malicious' | 'infringing' | 'misleading' | 'abusive' | 'spam' | 'other'
          text: string
        }
      }
    }
    responses: {
      /** @description You have reported it before, and it is not decided. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Report']
        }
      }
      /** @description The report. */
      201: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Report']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `package_not_found`: There is no such package, or it is private and not yours to see. `review_not_found`: There is no such review that can be seen. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `rate_limited`: Too many requests of one kind; `retry_after_seconds` says how long to wait. */
      429: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  postReportsByIdDecision: {
    parameters: {
      query?: never
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** @enum {string} */
          decision: 'dismissed' | 'upheld'
          reason: string
        }
      }
    }
    responses: {
      /** @description The report. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Report']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `report_not_found`: There is no such report. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `moderation_state_conflict`: A report is decided already, or a package is not taken down. */
      409: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  postPackagesByScopeByNameTakeDown: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description The owner, with its @. */
        scope: string
        name: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          reason: string
          /**
           * @description It is malicious: those who bought it get it no more either, and buyers of the last 30 days get their money back.
           * @default false
           */
          for_all?: boolean
          /**
           * @description Gives every buyer of the last 30 days their money back.
           * @default false
           */
          refund?: boolean
        }
      }
    }
    responses: {
      /** @description What holds now. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Moderation']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `package_not_found`: There is no such package, or it is private and not yours to see. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  postPackagesByScopeByNameRestore: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description The owner, with its @. */
        scope: string
        name: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          reason: string
        }
      }
    }
    responses: {
      /** @description What holds now. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Moderation']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `package_not_found`: There is no such package, or it is private and not yours to see. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  postPackagesByScopeByNameAppeals: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description The owner, with its @. */
        scope: string
        name: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          text: string
        }
      }
    }
    responses: {
      /** @description What holds now. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Moderation']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `package_not_found`: There is no such package, or it is private and not yours to see. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `moderation_state_conflict`: A report is decided already, or a package is not taken down. */
      409: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `rate_limited`: Too many requests of one kind; `retry_after_seconds` says how long to wait. */
      429: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getPackagesByScopeByNameModeration: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description The owner, with its @. */
        scope: string
        name: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description What holds now. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Moderation']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `package_not_found`: There is no such package, or it is private and not yours to see. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  postUsageEvents: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          events: {
            /** Format: uuid */
            id: string
            package: string
            version: string
            account: string
            calls: number
            /** Format: date-time */
            at: string
          }[]
        }
      }
    }
    responses: {
      /** @description How many were new. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['UsageAccepted']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `idempotency_key_reused`: An Idempotency-Key came with another request than the first time. */
      409: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  postCallAllowance: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          package: string
          version: string
          account: string
          /**
           * Format: uuid
           * @description The call itself, by the id of its usage event. Where it is a trial it is counted at once, so that calls at the same moment never come to more than the trial has; the event is then a repetition. Without it nothing is counted.
           */
          call?: string
        }
      }
    }
    responses: {
      /** @description Whether, and why. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['CallAllowance']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `account_not_found`: There is no user or organisation of that name. `package_not_found`: There is no such package, or it is private and not yours to see. `version_not_found`: The package has no such version, or none that fits the tag or range. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `idempotency_key_reused`: An Idempotency-Key came with another request than the first time. */
      409: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `package_taken_down`: The package was taken down by the operators of the server. */
      410: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  callAgent: {
    parameters: {
      query?: never
      header?: {
        /** @description Becomes the id of the call. Repeating an answered call under its key within the hour gives the same answer and counts nothing; one that failed is tried again. */
        'idempotency-key'?: string
      }
      path: {
        /** @description The owner, with its @. */
        scope: string
        name: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** @description A version or a range of versions; `latest` unless told. */
          version?: string
          observation: unknown
          action_mask?: unknown
        }
      }
    }
    responses: {
      /** @description What the agent does. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['HostedCall']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `payment_required`: A licence has to be bought first, or the price of a run confirmed. `trial_exhausted`: The calls that the seller gives before a purchase are used up. `insufficient_funds`: The balance does not hold what it costs. `spend_cap_exceeded`: A spend cap of the account or of the token leaves too little, or it costs more than `--max`. */
      402: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `package_not_found`: There is no such package, or it is private and not yours to see. `version_not_found`: The package has no such version, or none that fits the tag or range. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `version_not_published`: The version is still being checked, or was rejected. `version_yanked`: The version is yanked. `idempotency_key_reused`: An Idempotency-Key came with another request than the first time. */
      409: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `package_taken_down`: The package was taken down by the operators of the server. */
      410: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_too_large`: The body of a request is larger than the server takes. */
      413: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `observation_invalid`: An observation did not fit its space. `mask_invalid`: An action mask did not fit the action space. `no_legal_action`: An action mask left no legal action. `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `rate_limited`: Too many requests of one kind; `retry_after_seconds` says how long to wait. */
      429: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `agent_failed`: The agent's model failed at the call; nothing was counted. */
      502: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `agent_unavailable`: No worker has answered the call in time; nothing was counted. */
      503: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  postHostedCallsLease: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** Format: uuid */
          worker_id: string
          loaded: string[]
          wait_ms: number
        }
      }
    }
    responses: {
      /** @description Calls. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['LeasedCalls']
        }
      }
      /** @description None came. */
      204: {
        headers: {
          [name: string]: unknown
        }
        content?: never
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  postHostedCallsAnswers: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          lease: string
          answers: (
            | {
                /** Format: uuid */
                id: string
                action: unknown
                label: string | null
                probabilities: number[] | null
                model_ms: number
              }
            | {
                /** Format: uuid */
                id: string
                error: {
                  /** @enum {string} */
                  code:
                    | 'config_invalid'
                    | 'usage_invalid'
                    | 'file_not_found'
                    | 'manifest_invalid'
                    | 'agent_invalid'
                    | 'scenario_mismatch'
                    | 'checkpoint_invalid'
                    | 'execution_provider_unavailable'
                    | 'setup_incomplete'
                    | 'database_in_use'
                    | 'database_unavailable'
                    | 'database_incompatible'
                    | 'database_damaged'
                    | 'storage_unavailable'
                    | 'request_invalid'
                    | 'request_too_large'
                    | 'endpoint_not_found'
                    | 'scenario_invalid'
                    | 'scenario_build_failed'
                    | 'scenario_timeout'
                    | 'scenario_out_of_memory'
                    | 'scenario_crashed'
                    | 'scenario_threw'
                    | 'scenario_nondeterministic'
                    | 'reward_not_finite'
                    | 'observation_invalid'
                    | 'metrics_invalid'
                    | 'mask_invalid'
                    | 'no_legal_action'
                    | 'model_load_failed'
                    | 'model_run_failed'
                    | 'model_output_invalid'
                    | 'model_timeout'
                    | 'model_out_of_memory'
                    | 'model_crashed'
                    | 'training_diverged'
                    | 'training_failed'
                    | 'training_cancelled'
                    | 'run_not_found'
                    | 'run_state_conflict'
                    | 'run_has_no_agent'
                    | 'checkpoint_not_found'
                    | 'evaluation_not_found'
                    | 'budget_exceeded'
                    | 'worker_failed'
                    | 'verification_mismatch'
                    | 'signature_invalid'
                    | 'verification_missing'
                    | 'idempotency_key_reused'
                    | 'lease_lost'
                    | 'integrity_mismatch'
                    | 'server_unreachable'
                    | 'request_timeout'
                    | 'unauthenticated'
                    | 'credentials_invalid'
                    | 'forbidden'
                    | 'account_not_found'
                    | 'package_not_found'
                    | 'token_not_found'
                    | 'name_invalid'
                    | 'name_taken'
                    | 'email_taken'
                    | 'last_owner'
                    | 'link_invalid'
                    | 'rate_limited'
                    | 'authorization_pending'
                    | 'slow_down'
                    | 'access_denied'
                    | 'expired_token'
                    | 'oauth_not_configured'
                    | 'oauth_failed'
                    | 'tarball_too_large'
                    | 'tarball_not_gzip'
                    | 'tarball_truncated'
                    | 'tarball_corrupt'
                    | 'tarball_trailing_data'
                    | 'tarball_unpacked_too_large'
                    | 'tarball_ratio_too_high'
                    | 'tarball_too_many_files'
                    | 'tarball_entry_unsupported'
                    | 'tarball_link'
                    | 'tarball_special_file'
                    | 'tarball_path_too_long'
                    | 'tarball_path_encoding'
                    | 'tarball_path_nul'
                    | 'tarball_path_backslash'
                    | 'tarball_path_absolute'
                    | 'tarball_path_traversal'
                    | 'tarball_path_outside_package'
                    | 'tarball_path_not_portable'
                    | 'tarball_path_duplicate'
                    | 'tarball_path_collision'
                    | 'package_manifest_missing'
                    | 'package_manifest_too_large'
                    | 'package_manifest_not_json'
                    | 'package_manifest_duplicate_key'
                    | 'package_manifest_forbidden_key'
                    | 'package_manifest_mismatch'
                    | 'package_name_mismatch'
                    | 'package_version_mismatch'
                    | 'package_kind_changed'
                    | 'package_license_missing'
                    | 'package_readme_missing'
                    | 'package_readme_invalid'
                    | 'package_install_script'
                    | 'package_executable'
                    | 'package_native_code'
                    | 'package_dependency_forbidden'
                    | 'package_dependencies_bundled'
                    | 'package_marked_private'
                    | 'package_bundle_missing'
                    | 'model_too_large'
                    | 'model_truncated'
                    | 'model_malformed'
                    | 'model_field_unknown'
                    | 'model_field_duplicate'
                    | 'model_part_forbidden'
                    | 'model_external_data'
                    | 'model_subgraph_forbidden'
                    | 'model_function_forbidden'
                    | 'model_domain_forbidden'
                    | 'model_opset_unsupported'
                    | 'model_operator_forbidden'
                    | 'model_attribute_invalid'
                    | 'model_too_many_parts'
                    | 'model_nesting_too_deep'
                    | 'model_string_too_long'
                    | 'model_name_invalid'
                    | 'model_name_duplicate'
                    | 'model_name_undefined'
                    | 'model_type_unsupported'
                    | 'model_shape_invalid'
                    | 'model_shape_mismatch'
                    | 'model_batch_mixed'
                    | 'model_tensor_size_mismatch'
                    | 'model_weights_not_finite'
                    | 'model_static_size'
                    | 'model_intermediate_too_large'
                    | 'model_work_too_large'
                    | 'model_input_mismatch'
                    | 'model_output_mismatch'
                    | 'version_invalid'
                    | 'tag_invalid'
                    | 'version_exists'
                    | 'version_not_found'
                    | 'version_not_published'
                    | 'document_outdated'
                    | 'version_immutable'
                    | 'version_yanked'
                    | 'sample_episode_not_found'
                    | 'picture_not_found'
                    | 'tag_not_found'
                    | 'tag_protected'
                    | 'package_visibility_fixed'
                    | 'price_changed'
                    | 'not_for_sale'
                    | 'self_purchase'
                    | 'insufficient_funds'
                    | 'spend_cap_exceeded'
                    | 'spend_cap_not_found'
                    | 'order_not_found'
                    | 'order_state_conflict'
                    | 'refund_exceeds'
                    | 'refund_refused'
                    | 'payment_declined'
                    | 'payment_not_found'
                    | 'payment_provider_unavailable'
                    | 'webhook_signature_invalid'
                    | 'payout_not_ready'
                    | 'payout_below_cleared'
                    | 'money_needs_postgresql'
                    | 'review_not_allowed'
                    | 'review_not_found'
                    | 'report_not_found'
                    | 'moderation_state_conflict'
                    | 'trial_exhausted'
                    | 'agent_unavailable'
                    | 'agent_failed'
                    | 'package_taken_down'
                    | 'payment_required'
                    | 'hosted_only'
                    | 'object_damaged'
                    | 'internal_error'
                  message: string
                  hint?: string
                  data?: {
                    [key: string]: unknown
                  }
                }
              }
          )[]
        }
      }
    }
    responses: {
      /** @description How many were taken. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['CallAnswersTaken']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_too_large`: The body of a request is larger than the server takes. */
      413: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getHostedCallsTarballsById: {
    parameters: {
      query: {
        lease: string
      }
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The tarball. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/octet-stream': string
        }
      }
      /** @description `lease_lost`: A job has gone to another worker, or is over. */
      409: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  createChatCompletion: {
    parameters: {
      query?: never
      header?: {
        /** @description Becomes the id of the call. Repeating an answered call under its key within the hour gives the same answer and counts nothing; one that failed is tried again. */
        'idempotency-key'?: string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** @description `@scope/name`, or `@scope/name@` with a version or a range. */
          model: string
          messages: ({
            role: string
            content?:
              | string
              | ({
                  type: string
                  text?: string
                } & {
                  [key: string]: unknown
                })[]
              | null
          } & {
            [key: string]: unknown
          })[]
          tools?:
            | ({
                type: string
                function?: {
                  name: string
                } & {
                  [key: string]: unknown
                }
              } & {
                [key: string]: unknown
              })[]
            | null
          tool_choice?: unknown
          stream?: boolean | null
          stream_options?:
            | ({
                include_usage?: boolean
              } & {
                [key: string]: unknown
              })
            | null
          /** @enum {number|null} */
          n?: 1 | null
        } & {
          [key: string]: unknown
        }
      }
    }
    responses: {
      /** @description What the agent does. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['ChatCompletion']
          'text/event-stream': string
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `payment_required`: A licence has to be bought first, or the price of a run confirmed. `trial_exhausted`: The calls that the seller gives before a purchase are used up. `insufficient_funds`: The balance does not hold what it costs. `spend_cap_exceeded`: A spend cap of the account or of the token leaves too little, or it costs more than `--max`. */
      402: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `package_not_found`: There is no such package, or it is private and not yours to see. `version_not_found`: The package has no such version, or none that fits the tag or range. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `version_not_published`: The version is still being checked, or was rejected. `version_yanked`: The version is yanked. `idempotency_key_reused`: An Idempotency-Key came with another request than the first time. */
      409: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `package_taken_down`: The package was taken down by the operators of the server. */
      410: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_too_large`: The body of a request is larger than the server takes. */
      413: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `observation_invalid`: An observation did not fit its space. `mask_invalid`: An action mask did not fit the action space. `no_legal_action`: An action mask left no legal action. `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `rate_limited`: Too many requests of one kind; `retry_after_seconds` says how long to wait. */
      429: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `agent_failed`: The agent's model failed at the call; nothing was counted. */
      502: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `agent_unavailable`: No worker has answered the call in time; nothing was counted. */
      503: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  listModels: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description Agents. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['ModelList']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getPrice: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description The owner, with its @. */
        scope: string
        name: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description Prices and terms. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['PricePage']
        }
      }
      /** @description `package_not_found`: There is no such package, or it is private and not yours to see. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `package_taken_down`: The package was taken down by the operators of the server. */
      410: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  setPrice: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description The owner, with its @. */
        scope: string
        name: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** @enum {string} */
          kind: 'free' | 'one_time' | 'per_run'
          /** @description In minor units of the server’s currency; left out where it is free. */
          amount_minor?: number
          royalty_basis_points?: number
          trial_calls?: number
          calls_price_minor?: number
          terms?: string
        }
      }
    }
    responses: {
      /** @description As it is now. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['PricePage']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `package_not_found`: There is no such package, or it is private and not yours to see. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `package_taken_down`: The package was taken down by the operators of the server. */
      410: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getOffer: {
    parameters: {
      query?: {
        /** @description A version, range or tag; `latest` unless told. */
        range?: string
        /** @description Organisation to buy for; you yourself unless told. */
        account?: string
      }
      header?: never
      path: {
        /** @description The owner, with its @. */
        scope: string
        name: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The offer. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Offer']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `account_not_found`: There is no user or organisation of that name. `package_not_found`: There is no such package, or it is private and not yours to see. `version_not_found`: The package has no such version, or none that fits the tag or range. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `version_yanked`: The version is yanked. */
      409: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `package_taken_down`: The package was taken down by the operators of the server. */
      410: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  listOrders: {
    parameters: {
      query?: {
        role?: 'purchases' | 'sales'
        state?: 'awaiting_payment' | 'paid' | 'cancelled' | 'expired' | 'refunded' | 'charged_back'
        package?: string
        /** @description Organisation that it is for; you yourself unless told. */
        account?: string
        limit?: number
        cursor?: string
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description One page. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['OrderList']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `account_not_found`: There is no user or organisation of that name. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  placeOrder: {
    parameters: {
      query?: never
      header: {
        /** @description Made by the client for this one request, a random uuid say. Repeating the request under its key does nothing and gives the first answer. */
        'idempotency-key': string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          package: string
          /** @description A version, range or tag; `latest` unless told. */
          range?: string
          /** @description The price that the buyer was shown. Another one is `price_changed`, and nothing is bought. */
          expected_price?: {
            /** Format: uuid */
            id?: string
            amount_minor: number
          }
          /**
           * @default balance
           * @enum {string}
           */
          pay_with?: 'balance' | 'provider'
          /** @description Organisation that it is for; you yourself unless told. */
          account?: string
        }
      }
    }
    responses: {
      /** @description You have it already, or it waits for your payment. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Order']
        }
      }
      /** @description The order. */
      201: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Order']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `insufficient_funds`: The balance does not hold what it costs. `spend_cap_exceeded`: A spend cap of the account or of the token leaves too little, or it costs more than `--max`. */
      402: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `account_not_found`: There is no user or organisation of that name. `package_not_found`: There is no such package, or it is private and not yours to see. `version_not_found`: The package has no such version, or none that fits the tag or range. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `version_yanked`: The version is yanked. `not_for_sale`: There is no licence of it to buy. `self_purchase`: Buyer and seller are the same people. `price_changed`: The price is another one than the buyer was shown; nothing was bought. `idempotency_key_reused`: An Idempotency-Key came with another request than the first time. */
      409: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `package_taken_down`: The package was taken down by the operators of the server. */
      410: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `rate_limited`: Too many requests of one kind; `retry_after_seconds` says how long to wait. */
      429: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getOrder: {
    parameters: {
      query?: never
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The order. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Order']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `order_not_found`: There is no such order, or it is not yours to see. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  cancelOrder: {
    parameters: {
      query?: never
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description Cancelled. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Order']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `order_not_found`: There is no such order, or it is not yours to see. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `order_state_conflict`: The order is not in a state in which that can be done. */
      409: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  refundOrder: {
    parameters: {
      query?: never
      header: {
        /** @description Made by the client for this one request, a random uuid say. Repeating the request under its key does nothing and gives the first answer. */
        'idempotency-key': string
      }
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** @description All that is left of it unless told. Only sellers and operators give parts. */
          amount_minor?: number
          reason: string
        }
      }
    }
    responses: {
      /** @description The order as it is then. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Order']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `order_not_found`: There is no such order, or it is not yours to see. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `order_state_conflict`: The order is not in a state in which that can be done. `refund_exceeds`: More is to be given back than is left of the order. `refund_refused`: The buyer cannot take that back without the seller. `idempotency_key_reused`: An Idempotency-Key came with another request than the first time. */
      409: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  listEntitlements: {
    parameters: {
      query?: {
        /** @description Organisation that it is for; you yourself unless told. */
        account?: string
        limit?: number
        cursor?: string
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description One page, newest first. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['EntitlementList']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `account_not_found`: There is no user or organisation of that name. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getBalance: {
    parameters: {
      query?: {
        /** @description Organisation that it is for; you yourself unless told. */
        account?: string
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The balance. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Balance']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `account_not_found`: There is no user or organisation of that name. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  topUp: {
    parameters: {
      query?: never
      header: {
        /** @description Made by the client for this one request, a random uuid say. Repeating the request under its key does nothing and gives the first answer. */
        'idempotency-key': string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          amount_minor: number
          /** @description Organisation that it is for; you yourself unless told. */
          account?: string
          /** @enum {string} */
          test_outcome?: 'succeeds' | 'declined' | 'pending' | 'disputed'
        }
      }
    }
    responses: {
      /** @description The payment. */
      201: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Payment']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `payment_declined`: The payment was not made: the message says why. */
      402: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `account_not_found`: There is no user or organisation of that name. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `idempotency_key_reused`: An Idempotency-Key came with another request than the first time. */
      409: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `rate_limited`: Too many requests of one kind; `retry_after_seconds` says how long to wait. */
      429: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `payment_provider_unavailable`: The payment provider does not answer; nothing is lost, and asking again does nothing twice. */
      503: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  listPayments: {
    parameters: {
      query?: {
        /** @description Organisation that it is for; you yourself unless told. */
        account?: string
        limit?: number
        cursor?: string
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description Newest first. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['PaymentList']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `account_not_found`: There is no user or organisation of that name. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getPayment: {
    parameters: {
      query?: never
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The payment. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Payment']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `payment_not_found`: There is no such payment, or it is not yours to see. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getPayoutDestination: {
    parameters: {
      query?: {
        /** @description Organisation that it is for; you yourself unless told. */
        account?: string
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description It. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['PayoutDestination']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `account_not_found`: There is no user or organisation of that name. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  openPayoutDestination: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** @description Organisation that it is for; you yourself unless told. */
          account?: string
        }
      }
    }
    responses: {
      /** @description It. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['PayoutDestination']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `payment_declined`: The payment was not made: the message says why. */
      402: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `account_not_found`: There is no user or organisation of that name. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `rate_limited`: Too many requests of one kind; `retry_after_seconds` says how long to wait. */
      429: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `payment_provider_unavailable`: The payment provider does not answer; nothing is lost, and asking again does nothing twice. */
      503: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  listPayouts: {
    parameters: {
      query?: {
        /** @description Organisation that it is for; you yourself unless told. */
        account?: string
        limit?: number
        cursor?: string
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description Newest first. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['PayoutList']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `account_not_found`: There is no user or organisation of that name. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  requestPayout: {
    parameters: {
      query?: never
      header: {
        /** @description Made by the client for this one request, a random uuid say. Repeating the request under its key does nothing and gives the first answer. */
        'idempotency-key': string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** @description All that has cleared unless told. */
          amount_minor?: number
          /** @description Organisation that it is for; you yourself unless told. */
          account?: string
        }
      }
    }
    responses: {
      /** @description The payout. */
      201: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Payout']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `account_not_found`: There is no user or organisation of that name. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `payout_not_ready`: There is nowhere yet that earnings could be paid out to. `payout_below_cleared`: Less has cleared than is to be paid out, or nothing at all. `idempotency_key_reused`: An Idempotency-Key came with another request than the first time. */
      409: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `rate_limited`: Too many requests of one kind; `retry_after_seconds` says how long to wait. */
      429: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  takeStripeEvent: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description It has been taken, now or before. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            received: true
          }
        }
      }
      /** @description `webhook_signature_invalid`: A webhook is not signed by the payment provider, was changed on its way, or is too old. */
      400: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `payment_provider_unavailable`: The payment provider does not answer; nothing is lost, and asking again does nothing twice. */
      503: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getEarnings: {
    parameters: {
      query?: {
        /** @description Organisation that it is for; you yourself unless told. */
        account?: string
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The earnings. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Earnings']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `account_not_found`: There is no user or organisation of that name. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  listEarnings: {
    parameters: {
      query?: {
        /** @description Organisation that it is for; you yourself unless told. */
        account?: string
        limit?: number
        cursor?: string
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description Newest first. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['EarningsEntries']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `account_not_found`: There is no user or organisation of that name. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getEarningsByDay: {
    parameters: {
      query?: {
        /** @description Organisation that it is for; you yourself unless told. */
        account?: string
        days?: number
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The days. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['EarningsDays']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `account_not_found`: There is no user or organisation of that name. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getEarningsAsCsv: {
    parameters: {
      query?: {
        /** @description Organisation that it is for; you yourself unless told. */
        account?: string
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description One line an entry. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'text/csv': string
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `account_not_found`: There is no user or organisation of that name. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  listSpendCaps: {
    parameters: {
      query?: {
        /** @description Organisation that it is for; you yourself unless told. */
        account?: string
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description All of them. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['SpendCapList']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `account_not_found`: There is no user or organisation of that name. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  setSpendCap: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /**
           * Format: uuid
           * @description The cap is on what this token spends; on the account unless told.
           */
          token_id?: string
          /** @enum {string} */
          period: 'day' | 'month' | 'total'
          amount_minor: number
          /** @description Organisation that it is for; you yourself unless told. */
          account?: string
        }
      }
    }
    responses: {
      /** @description The cap. */
      200: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['SpendCap']
        }
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `account_not_found`: There is no user or organisation of that name. `token_not_found`: The account has no such token. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  removeSpendCap: {
    parameters: {
      query?: never
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description It limits nothing any more. */
      204: {
        headers: {
          [name: string]: unknown
        }
        content?: never
      }
      /** @description `unauthenticated`: The request needs a log-in, or its token is unknown, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `forbidden`: Whoever asks may not do that, or the token lacks the scope for it. */
      403: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `spend_cap_not_found`: There is no such spend cap, or it is not yours to change. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `request_invalid`: A request to the server does not match its schema. */
      422: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `internal_error`: AgentGym itself failed: a fault to report. */
      500: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
}
