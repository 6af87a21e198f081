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
    get?: never
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
  '/v1/packages/{scope}/{name}/versions/{version}/readme': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * A version's own README
     * @description As Markdown and as HTML that is safe to show. `Accept: text/html` gives a page of it alone.
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
  '/v1/jobs/{id}/result': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /** Give the result of a job */
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
     * The tarball that a job is about
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
          | 'training_diverged'
          | 'training_failed'
          | 'training_cancelled'
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
          | 'version_invalid'
          | 'tag_invalid'
          | 'version_exists'
          | 'version_not_found'
          | 'version_not_published'
          | 'document_outdated'
          | 'version_immutable'
          | 'version_yanked'
          | 'tag_not_found'
          | 'tag_protected'
          | 'package_visibility_fixed'
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
      scopes: ('packages:read' | 'packages:publish' | 'packages:manage' | 'account:manage' | 'worker')[]
    }
    Session: {
      username: string
    }
    CreatedToken: {
      /** Format: uuid */
      id: string
      name: string
      prefix: string
      scopes: ('packages:read' | 'packages:publish' | 'packages:manage' | 'account:manage' | 'worker')[]
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
      scopes: ('packages:read' | 'packages:publish' | 'packages:manage' | 'account:manage' | 'worker')[]
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
      scopes: ('packages:read' | 'packages:publish' | 'packages:manage' | 'account:manage' | 'worker')[]
      /** Format: date-time */
      expires_at: string | null
      /** Format: date-time */
      last_used_at: string | null
      /** Format: date-time */
      created_at: string
      token: string
      username: string
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
      readme: components['schemas']['Readme']
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
    } | null
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
    VersionReadme: {
      markdown: string
      html: string
      name: string
      version: string
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
      }[]
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
    LeasedJob: {
      id: string
      /** @enum {string} */
      kind: 'check'
      lease: string
      package: {
        name: string
        version: string
        integrity: string
        tarball_url: string
      }
      /** Format: date-time */
      expires_at: string
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
          scopes: ('packages:read' | 'packages:publish' | 'packages:manage' | 'account:manage' | 'worker')[]
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
          scopes: ('packages:read' | 'packages:publish' | 'packages:manage' | 'account:manage' | 'worker')[]
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
      /** @description `package_not_found`: There is no such package, or it is private and not yours to see. */
      404: {
        headers: {
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description `name_taken`: A name is taken, or too easily mistaken for one that is. `version_exists`: The version has been published before; its number is spent, whatever became of it. `package_kind_changed`: A package stays what it is, scenario or agent. `package_visibility_fixed`: The package exists with the other visibility. */
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
      /** @description `name_invalid`: A name breaks the rules for names, or is reserved. `version_invalid`: A version is not a strict semantic version. `tag_invalid`: A tag breaks the rules for tags. `manifest_invalid`: A package.json or agent.json is missing or does not match its schema. `agent_invalid`: An agent package is incomplete or its model does not match its manifest. `tarball_not_gzip`: What was uploaded is not a gzip file. `tarball_truncated`: The tarball ends before its end. `tarball_corrupt`: The tarball is damaged: a checksum, a header or the compression does not add up. `tarball_trailing_data`: Something follows the end of the archive. `tarball_ratio_too_high`: The tarball unpacks to implausibly many times its size. `tarball_too_many_files`: The tarball holds more files than the server takes. `tarball_entry_unsupported`: The tarball uses a part of the tar format that clients read differently. `tarball_link`: The tarball holds a symbolic or hard link. `tarball_special_file`: The tarball holds a device, a FIFO or another special file. `tarball_path_too_long`: A path in the tarball is longer than the server takes. `tarball_path_encoding`: A path in the tarball is not valid UTF-8. `tarball_path_nul`: A path in the tarball holds a NUL byte. `tarball_path_backslash`: A path in the tarball holds a backslash. `tarball_path_absolute`: A path in the tarball is absolute. `tarball_path_traversal`: A path in the tarball has a segment `..`, `.` or an empty one. `tarball_path_outside_package`: A path in the tarball does not lie in `package/`. `tarball_path_not_portable`: A path in the tarball cannot exist on every system. `tarball_path_duplicate`: A path occurs twice in the tarball. `tarball_path_collision`: Two paths in the tarball are one on some systems. `package_manifest_missing`: The tarball holds no `package/package.json`. `package_manifest_too_large`: The package.json is larger than the server takes. `package_manifest_not_json`: The package.json is not a JSON object in UTF-8. `package_manifest_duplicate_key`: A key occurs twice in one object of the package.json. `package_manifest_forbidden_key`: The package.json has a key that endangers those who read it. `package_manifest_mismatch`: What the upload says about the package differs from the package.json inside the tarball. `package_name_mismatch`: The name in package.json is not the one that is published to. `package_version_mismatch`: The version in package.json is not the one that is published. `package_license_missing`: The package.json has no licence. `package_readme_missing`: The package has no README. `package_readme_invalid`: The README is too large or not UTF-8. `package_install_script`: The package has a script that would run while it is installed. `package_executable`: The package installs commands (`bin`). `package_native_code`: The package holds or builds native code. `package_dependency_forbidden`: A dependency does not come from a registry by a version range. `package_dependencies_bundled`: The package carries its dependencies as files. `package_marked_private`: The package.json says `private: true`. `package_bundle_missing`: The scenario's `dist/scenario.js` is not in the tarball. `request_invalid`: A request to the server does not match its schema. */
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
          kinds: 'check'[]
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
}
