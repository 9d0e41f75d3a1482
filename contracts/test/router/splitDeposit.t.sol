// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {MerchantRegistry} from "../../src/MerchantRegistry.sol";
import {SplitRouter} from "../../src/SplitRouter.sol";
import {ICommissionEscrowErrors} from "../../src/interfaces/ICommissionEscrowErrors.sol";
import {ISplitRouterErrors} from "../../src/interfaces/ISplitRouterErrors.sol";
import {RouterTest} from "../base/RouterTest.sol";
import {ContractWallet} from "../base/Wallets.sol";

contract SplitDepositTest is RouterTest {
    bytes32 private constant TX_HASH = keccak256("transfer");

    SplitRouter.Charge private charge;

    function setUp() public override {
        super.setUp();
        transferToRouter(buyer, PRICE);
        charge = signCharge(buyer, TX_HASH, PRICE, buyerAgentId);
    }

    /// [CHAIN-03] [CHAIN-05]
    function test_succeeds_whenThePayerSigned() public {
        bytes32 nonce = router.chargeNonce(TX_HASH);
        expectDeposit(buyer.addr, nonce);
        splitDeposit();
        assertSplit(buyer.addr);
        (uint256 escrowId,,,) = escrow.escrowOf(buyer.addr, nonce);
        assertEq(escrowId, 1);
    }

    function test_succeeds_whenAContractWalletSigned() public {
        Wallet memory payer = Wallet(address(new ContractWallet(buyer.addr)), buyer.key);
        charge = signCharge(payer, TX_HASH, PRICE, buyerAgentId);
        splitDeposit();
        (uint256 escrowId,,,) = escrow.escrowOf(payer.addr, router.chargeNonce(TX_HASH));
        assertEq(escrowId, 1);
    }

    function test_succeeds_whenTwoPayersTransferredInOneTransaction() public {
        splitDeposit();
        transferToRouter(walletBuyer, PRICE);
        charge = signCharge(walletBuyer, TX_HASH, PRICE, buyerAgentId);
        splitDeposit();
        assertEq(escrow.lastEscrowId(), 2);
        assertBalance(merchant.addr, 2 * MERCHANT_NET, "merchant");
    }

    /// [CHAIN-44]
    function test_reverts_whenSplitTwice() public {
        splitDeposit();
        transferToRouter(walletBuyer, PRICE);
        vm.expectRevert(
            abi.encodeWithSelector(
                ICommissionEscrowErrors.PaymentAlreadySplit.selector, buyer.addr, router.chargeNonce(TX_HASH), 1
            )
        );
        splitDeposit();
    }

    function test_reverts_whenTakenBack() public {
        takeBackDeposit(charge, buyerAgentId);
        transferToRouter(walletBuyer, PRICE);
        vm.expectRevert(
            abi.encodeWithSelector(
                ISplitRouterErrors.PaymentAlreadyRefunded.selector, buyer.addr, router.chargeNonce(TX_HASH)
            )
        );
        splitDeposit();
    }

    function test_reverts_whenASignedFieldIsAltered() public {
        SplitRouter.Charge memory signed = charge;
        for (uint256 field = 0; field < 3; ++field) {
            charge = signed;
            address payer = buyer.addr;
            if (field == 0) charge.txHash = keccak256("altered");
            if (field == 1) charge.tokenHash = keccak256("altered");
            if (field == 2) charge.payer = payer = walletBuyer.addr;
            vm.expectRevert(abi.encodeWithSelector(ISplitRouterErrors.InvalidSignature.selector, payer));
            splitDeposit();
        }
    }

    function test_reverts_whenSignedForAnotherBuyer() public {
        charge = signCharge(buyer, TX_HASH, PRICE, type(uint256).max);
        vm.expectRevert(abi.encodeWithSelector(ISplitRouterErrors.InvalidSignature.selector, buyer.addr));
        splitDeposit();
    }

    function test_reverts_whenMoreIsClaimedThanLiesThere() public {
        charge.value = PRICE + 1;
        vm.expectRevert(abi.encodeWithSelector(ISplitRouterErrors.NotEnoughUnsplit.selector, PRICE + 1, PRICE));
        splitDeposit();
    }

    /// [CHAIN-38]
    function test_reverts_whenTheMerchantHasClosed() public {
        vm.prank(merchant.addr);
        merchants.setActive(merchantId, false);
        vm.expectRevert(abi.encodeWithSelector(MerchantRegistry.MerchantNotActive.selector, merchantId));
        splitDeposit();
        assertBalance(address(router), PRICE, "router");
    }

    function test_reverts_whenNotASettlerCalls() public {
        SplitRouter.Attribution memory attributed = attribution();
        vm.expectRevert(missingRole(buyer.addr, "SETTLER_ROLE"));
        vm.prank(buyer.addr);
        router.splitDeposit(charge, attributed);
    }

    function splitDeposit() private {
        SplitRouter.Attribution memory attributed = attribution();
        vm.prank(settler);
        router.splitDeposit(charge, attributed);
    }
}
