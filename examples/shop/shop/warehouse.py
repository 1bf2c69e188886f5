"""What we ask of the warehouse."""

import requests
from django.conf import settings


class Warehouse:
    def __init__(self):
        self.session = requests.Session()

    def ship(self, order_id, key):
        response = self.session.post(
            f"{settings.WAREHOUSE_URL}/shipments",
            json={"order": order_id},
            headers={"Idempotency-Key": key},
            timeout=15,
        )
        response.raise_for_status()
        return response.json()["number"]
