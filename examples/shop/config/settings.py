import os

SECRET_KEY = os.environ.get("SECRET_KEY", "only-for-the-example")
INSTALLED_APPS = ["shop"]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "shop.sqlite3"}}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
USE_TZ = True

CELERY_BROKER_URL = os.environ.get("CELERY_BROKER_URL", "redis://localhost:6379/0")
# A worker that is killed must not take an order with it: messages are acknowledged when the work is done.
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_TIME_LIMIT = 300

STRIPE_KEY = os.environ.get("STRIPE_KEY", "")
WAREHOUSE_URL = os.environ.get("WAREHOUSE_URL", "https://warehouse.example.com")
