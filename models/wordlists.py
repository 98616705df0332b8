"""Fillers for the slots of frames.txt that WordNet has no list for, and words newer than the word lists, which join the vocabulary."""


def words(text):
    return text.split()


NAMES = words("""Alice Amir Ana Andre Anja Ben Carla Chen Daniel Dana Elena Emma Erik Farah Felix Fiona George Grace Hannah Hugo Ines Ivan Jack Jane Jonas
Julia Karim Kate Lars Laura Leo Lena Lucas Maria Mark Mei Nina Noah Olga Omar Paul Peter Priya Rosa Ruth Sam Sara Sofia Steve Tara Theo Tom Vera Victor
Wendy Yuki Zoe""")
CITIES = ["Berlin", "Boston", "Cairo", "Chicago", "Denver", "Dublin", "Helsinki", "Kyoto", "Lima", "Lisbon", "London", "Madrid", "Melbourne", "Miami", "Mumbai",
          "Nairobi", "New York", "Oslo", "Paris", "Prague", "Rome", "San Francisco", "Seattle", "Seoul", "Spain", "Sweden", "Texas", "Thailand", "Tokyo", "Toronto",
          "Italy", "Canada", "Brazil", "Vancouver", "Vienna", "Zurich", "the beach", "the mountains", "the countryside"]
RELATIVES = words("mother father sister brother son daughter wife husband partner friend neighbour boss colleague uncle aunt cousin grandmother grandfather niece roommate mom dad")
DAYS = words("Monday Tuesday Wednesday Thursday Friday Saturday Sunday week month weekend morning")
MONTHS = words("January February March April May June July August September October November December")
TECH = words("""Postgres PostgreSQL MySQL SQLite Redis Kafka RabbitMQ Docker Kubernetes Terraform Ansible Jenkins GitHub GitLab Python Rust Go Java TypeScript JavaScript
React Vue Svelte Node Django Flask FastAPI Rails Spring nginx Apache Elasticsearch Grafana Prometheus Sentry Slack Stripe AWS Azure S3 Lambda Vault OAuth JWT
GraphQL gRPC REST WebSocket protobuf JSON YAML Parquet Spark Airflow dbt Snowflake BigQuery MongoDB Cassandra DynamoDB pytest Jest Playwright Cypress webpack Vite
npm pnpm yarn cargo CMake Bazel Make Gradle Maven systemd Linux Debian Ubuntu macOS Windows Android iOS Swift Kotlin Flutter Bluetooth MQTT SPI UART Zephyr FreeRTOS
OpenSSL TLS SSH DNS Cloudflare Traefik Envoy Istio Helm ArgoCD Nomad Consul etcd Ceph ZFS Btrfs Tailscale WireGuard""")
SERVICES = words("""checkout billing login search catalogue inventory shipping payment notification email upload export import report analytics webhook scheduler worker gateway
admin auth profile order invoice refund cart review image video chat sync telemetry firmware sensor ingest warehouse crawler parser compiler linter renderer map""")
COMMANDS = ["make test", "npm run build", "cargo test", "docker compose up", "kubectl get pods", "git rebase", "pytest -q", "go vet", "terraform apply", "./deploy.sh",
            "psql", "redis-cli", "journalctl", "systemctl restart", "curl", "rsync", "ssh", "grep", "ffmpeg", "alembic upgrade head"]
TASKS = ["run the tests", "restart the worker", "rotate the keys", "clear the cache", "rebuild the index", "restore the backup", "import the data", "export the report",
         "flash the device", "update the dependencies", "migrate the database", "reset the password", "tail the logs", "profile the queries", "deploy the release",
         "roll back the deployment", "generate the client", "lint the code", "format the code", "sign the packages", "upload the artifacts", "scale the cluster",
         "drain the queue", "vacuum the tables", "renew the certificate", "block the account", "refund the order", "resize the images", "compress the archive",
         "delete old files", "check the disk space", "measure the latency", "trace the requests", "open a tunnel", "add a user", "remove the lock", "log in", "pay by card",
         "verify the signature", "encrypt the backup", "merge the branch", "tag the version", "publish the package", "seed the database", "calibrate the sensor"]
LISTS = {"name": NAMES, "city": CITIES, "relative": RELATIVES, "day": DAYS, "month": MONTHS, "tech": TECH, "svc": SERVICES, "cmd": COMMANDS, "task": TASKS,
         "motionpast": words("ran walked drove flew rolled drifted climbed moved")}

MODERN = words("""postgres postgresql mysql sqlite redis kafka rabbitmq docker dockerfile kubernetes kubectl terraform ansible jenkins github gitlab bitbucket typescript
javascript nodejs django fastapi nginx elasticsearch grafana prometheus opentelemetry oauth jwt graphql grpc websocket websockets protobuf json yaml toml parquet
airflow dbt bigquery mongodb dynamodb pytest webpack vite npm pnpm cmake bazel gradle systemd ubuntu debian macos kotlin mqtt uart openssl tls ssh dns cloudflare
tailscale wireguard backend frontend webhook webhooks async await mutex deadlock timeout timeouts retry retries endpoint endpoints middleware microservice
microservices serverless config configs env localhost hostname username usernames plaintext timestamp timestamps datetime utc cron cronjob crontab daemon stdout
stderr stdin regex regexp boolean enum enums struct structs tuple tuples int uint nullable namespace namespaces codebase repo repos submodule changelog readme
linter linting eslint mypy rebase rebased refactor refactored refactoring refactors changeset hotfix rollback rollbacks deploy deploys redeploy staging sandbox
firewall vpn subnet ipv4 ipv6 tcp udp http https url urls uri api apis sdk cli gui csv tsv xml html css pdf png jpeg svg utf unicode ascii base64 sha256 hmac aes rsa
checksum checksums backup backups snapshot snapshots failover replica replicas shard shards sharding throughput latency p95 p99 cpu gpu ram ssd nvme filesystem
filesystems inode symlink symlinks chmod sudo malloc segfault coredump stacktrace traceback debugger breakpoint profiler flamegraph tokenizer embedding embeddings
dataset datasets dataframe numpy pandas pytorch tensorflow llm llms chatbot prompt prompts wifi bluetooth firmware bootloader watchdog gpio adc pwm i2c rtos wearable
smartphone smartwatch laptop laptops app apps screenshot screenshots podcast podcasts selfie selfies vlog blog blogs blogger hashtag livestream streaming netflix
youtube instagram tiktok spotify airbnb uber vegan gluten smoothie smoothies yoga pilates zumba kayaking snowboarding skateboarding roommate
roommates fiancee goodnight congrats awesome""")
